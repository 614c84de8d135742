#compdef TOOL
_TOOL() {
  local -i at=${words[(i)--]}
  if (( at < CURRENT )); then
    shift at words
    (( CURRENT -= at ))
    _normal
    return
  fi
  local -a all offer options
  all=("${(@f)$(TOOL complete -- "${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  offer=("${(@)all[2,-1]/$'\t'/:}")
  options=("${(@M)offer:#-*}")
  offer=("${(@)offer:#-*}")
  (( $#offer )) && _describe TOOL offer
  (( $#options )) && _describe -o option options
  case $all[1] in
    file) _files ;;
    folder) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _TOOL ]]; then _TOOL "$@"; else compdef _TOOL TOOL; fi
