# bash completion of TOOL
_TOOL() {
  local cur=${COMP_WORDS[COMP_CWORD]} kind= word i
  local -a offer
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); return; fi
      if ((COMP_CWORD == i + 1)); then COMPREPLY=($(compgen -c -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi
      return
    fi
  done
  while IFS=$'\t' read -r word _; do
    if [[ -z $kind ]]; then kind=$word; else offer+=("$word"); fi
  done < <(TOOL complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  COMPREPLY=($(compgen -W "${offer[*]}" -- "$cur"))
  case $kind in
    file) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$cur")) ;;
    folder) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$cur")) ;;
  esac
}
complete -F _TOOL TOOL
