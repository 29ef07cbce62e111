#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: docs/reference/admin-api.yaml names every route of the server and no other, and every key that a body may have; the
# validator of OpenAPI finds nothing wrong where it is installed (Debian: python3-openapi-spec-validator).
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name"; cat "$work/diff" 2>/dev/null; fi
}
api=docs/reference/admin-api.yaml
# METHOD PATH, with {} for what stands in braces.
awk '/^  \/.*:$/ { path = $1; sub(/:$/, "", path); gsub(/\{[a-z]*\}/, "{}", path) }
    /^    (get|post|put|delete):$/ { sub(/:$/, "", $1); print toupper($1), path }' $api | sort >"$work/told"
{
    sed -n 's/^ *{"\(GET\|POST\|PUT\|DELETE\)", \(.*\)/\1 \2/p' server/admin/actions.c |
        sed -e 's/PLAYER /SESSION "\/players\/{}" /' -e 's/SESSION/"\/v1\/sessions\/{}"/' |
        sed -e 's/" *"//g' -e 's/^\([A-Z]*\) "\([^"]*\)".*/\1 \2/'
    sed -n 's/^.*{"GET", "\(\/[a-z]*\)", answer_.*/GET \1/p' server/program/report/front.c
} | sort >"$work/served"
ok "some routes were found" test "$(wc -l <"$work/served")" -gt 20
diff "$work/told" "$work/served" >"$work/diff"
ok "the file and the server have the same routes" test ! -s "$work/diff"
for key in $(sed -n 's/^ *{"POST", [^,]*, "\([a-z ]*\)",.*/\1/p' server/admin/actions.c | tr ' ' '\n' | sort -u); do
    ok "the key $key is told" grep -q "^        $key: " $api
done
if python3 -c 'import openapi_spec_validator, yaml' 2>/dev/null; then
    ok "the validator of OpenAPI agrees" python3 -c "
import sys, yaml, openapi_spec_validator as v
(getattr(v, 'validate', None) or v.validate_spec)(yaml.safe_load(open('$api')))"
fi
