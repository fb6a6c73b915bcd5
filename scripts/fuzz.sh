#!/usr/bin/env bash
# Has turns of everything at full rate for a third of the time, of which nothing may be left; then tries random edits and
# outputs of commands on real Neovims, kills at random points, random histories, random updates, messages made from the
# protocol's schemas, and random bytes, in turn, until the time is over or something fails. What failed says with which
# seed it is had again.
#
#   fuzz.sh MINUTES
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
minutes=${1:-10}
end=$((SECONDS + minutes * 60))

# The fuzz targets as "package target".
targets=$(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' . | sed 's|/[^/]*:func | |')

echo "fuzz: a soak"
go test -count=1 -timeout 0 -run '^TestSoak$' ./test/bench -args -soak "$((minutes * 10))s" # on each Neovim

seed=$(date +%s)
while [ $SECONDS -lt $end ]; do
  while read -r package target; do
    [ $SECONDS -lt $end ] || break
    echo "fuzz: edits, seed $seed"
    go test -count=1 -timeout 30m -run '^TestRandomEdits$' ./buffers -args -rounds 300 -seed "$seed"
    echo "fuzz: outputs of commands, seed $seed"
    go test -count=1 -timeout 30m -run '^TestRandomOutputs$' ./host/terminal -args -rounds 1500 -seed "$seed"
    echo "fuzz: kills, seed $seed"
    go test -count=1 -run '^TestKilledWhileWriting$' ./buffers -args -rounds 300 -seed "$seed"
    go test -count=1 -run '^TestCrashes$' ./test/scenario/files -args -crashes 3 -seed "$seed"
    go test -count=1 -timeout 30m -run '^TestWhose$' ./test/scenario/review/whose -args -whose 100 -seed "$seed"
    go test -count=1 -run '^TestRandomHistories$' ./host/review -args -rounds 5000 -seed "$seed"
    go test -count=1 -run '^TestRandomTurns$' ./host/ledger -args -rounds 3000 -seed "$seed"
    go test -count=1 -run '^TestRandomHalves$' ./host/ledger -args -rounds 150 -seed "$seed" # 300 of them
    go test -count=1 -run '^TestRandomPairs$' ./host/ledger -args -rounds 1000 -seed "$seed"
    go test -count=1 -run '^TestRandomTrees$' ./host/ledger -args -rounds 1000 -seed "$seed"
    go test -count=1 -run '^TestRandomUpdatesOfV2$' ./acp/session -args -rounds 5000 -seed "$seed"
    go test -count=1 -run '^TestRandomUpdatesLeaveTheirStateOnTheScreen$' ./test/scenario/chat -args -stories 30 -seed "$seed"
    go test -count=1 -run '^TestGeneratedMessages$' ./test/scenario/session -args -generated 3000 -seed "$seed"
    seed=$((seed + 1))
    echo "fuzz: $target of $package"
    go test -run '^$' -fuzz "^$target\$" -fuzztime 15s "$package"
  done <<<"$targets"
done
echo "fuzz: nothing found in $minutes minutes"
