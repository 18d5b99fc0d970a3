# SPDX-License-Identifier: Apache-2.0
# bash completion for dtensor(1). Commands and options are read from the command's own help, so that a new one needs no
# change here; only the values of some options are listed.

_dtensor_options() {
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p'
}

_dtensor_commands() {
    "$1" --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The planners that the help of `dtensor plan` lists: "greedy, graph, …, or all to compare them".
_dtensor_planners() {
    "$1" plan --help 2>/dev/null | sed -n 's/^  --planner [A-Z]* *\(.*\) to compare.*/\1/p' | sed 's/,//g; s/ or / /'
}

# Completes the value of an option; fails if the option takes none.
_dtensor_value() {
    case $1 in
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$2") ;;
    --planner) mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_planners "${COMP_WORDS[0]}")" -- "$2") ;;
    --svg | --trace | --machine | --shapes | --output | -o) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    --most | --mesh | --rank | --ranks | --width | --slice | --flatten) ;;
    *) return 1 ;;
    esac
}

_dtensor() {
    local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_commands "$program") --help --version" -- "$word")
    elif [ "${COMP_WORDS[1]}" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_commands "$program")" -- "$word")
    elif _dtensor_value "$before" "$word"; then
        :
    elif [[ ${COMP_WORDS[1]} =~ ^(ops|verify)$ ]] && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" ops 2>/dev/null | sed 's/ .*//')" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dtensor_options "$program" "${COMP_WORDS[1]}")" -- "$word")
    fi
}

complete -F _dtensor dtensor
