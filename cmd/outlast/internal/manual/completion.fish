# fish completion of TOOL
function __TOOL_offer
  set -l words (commandline -opc)
  if set -l at (contains -i -- -- $words)
    set -l rest $words[(math $at + 1)..] (commandline -ct)
    complete -C (string join -- ' ' (string escape -- $rest))
    return
  end
  set -l offer (TOOL complete -- $words[2..] 2>/dev/null)
  printf '%s\n' $offer[2..]
  switch "$offer[1]"
    case file
      __fish_complete_path (commandline -ct)
    case folder
      __fish_complete_directories (commandline -ct)
  end
end
complete -c TOOL -f -a '(__TOOL_offer)'
