# SPDX-License-Identifier: MIT
# openapi_answers.py: API CALLS: whether every answer that a server gave is one that the OpenAPI file API has for that
# path and method, and every body is of its schema, with no key more. A line of CALLS: method, path, status, body, with tabs.
import json
import re
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    api = yaml.safe_load(file)


def resolved(node):
    while "$ref" in node:
        at = api
        for part in node["$ref"].lstrip("#/").split("/"):
            at = at[part]
        node = at
    return node


def operation(method, path):
    for pattern, item in api["paths"].items():
        if re.fullmatch(re.sub(r"\{[a-z]*\}", "[^/]+", pattern), path):
            return item.get(method.lower())
    return None


TYPES = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict}


def wrong(value, schema, where):
    schema = resolved(schema)
    if value is None:
        return None if schema.get("nullable") else f"{where} is null"
    if "oneOf" in schema:
        return None if any(not wrong(value, s, where) for s in schema["oneOf"]) else f"{where} is of no type"
    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"{where} is no {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value}"
    if kind == "array":
        return next((w for w in (wrong(v, schema["items"], where + "[]") for v in value) if w), None)
    if kind != "object":
        return None
    known, more = schema.get("properties", {}), schema.get("additionalProperties")
    for key in schema.get("required", []):
        if key not in value:
            return f"{where}.{key} is missing"
    for key, inner in value.items():
        if key not in known and not more:
            return f"{where}.{key} is not told"
        problem = wrong(inner, known.get(key, more), f"{where}.{key}")
        if problem:
            return problem
    return None


seen, bad = set(), 0
for line in open(sys.argv[2], encoding="utf-8"):
    method, path, status, body = line.rstrip("\n").split("\t", 3)
    found = operation(method, path)
    problem = "the path has no such method"
    if found:
        answer = found["responses"].get(status)
        problem = f"it may not answer {status}"
        if answer:
            schema = resolved(answer)["content"]["application/json"]["schema"]
            problem = wrong(json.loads(body), schema, "answer")
            seen.add((method, path.split("?")[0], status))
    if problem:
        bad += 1
        print(f"{method} {path}: {status} {body[:100]}: {problem}")
print(f"{len(seen)} kinds of answers")
sys.exit(bad > 0)
