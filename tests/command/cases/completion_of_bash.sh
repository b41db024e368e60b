# SPDX-License-Identifier: GPL-3.0-or-later
touch a.yaml b.h5 "c d.h5" e.txt
mkdir folder
cat > ask.bash <<'END'
source <(moefabric reference bash)
compopt() { :; }    # works inside of a real completion only
ask() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _moefabric
    printf '%s:' "$*"
    ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | while read -r line; do printf ' [%s]' "$line"; done
    echo
}
ask moefabric c
ask moefabric --v
ask moefabric run --s
ask moefabric run --set traffic.tok
ask moefabric run --set topology.nvlink.ch
ask moefabric explain MF-00
ask moefabric explain busb
ask moefabric perf d
ask moefabric perf dispatch ''
ask moefabric show ''
ask moefabric compare ''
ask moefabric compare -o ''
ask moefabric export --folder ''
ask moefabric run a.yaml --seed ''
complete -p moefabric
END
bash -u ask.bash | sort
# the completions of the other shell can at least be read by it
if command -v zsh > found; then moefabric reference zsh > _moefabric && zsh -n _moefabric; fi
