#!/usr/bin/env python3
"""Writes charts/regatta/files/crds/*.yaml from tools/crds/*.crd; with --check only compares.

A .crd file has `key: value` lines, then one section per version. The section of v1beta2 lists every
field; that of v1beta1 lists what differs: `- path` takes a field of v1beta2 away, any other line
adds or replaces one. A field is

    path[*] | type | constraints | items: constraints # description

`*` marks it required, `[]` in a path is an element of a list, and (root) is the object itself.
Types: string, boolean, integer:int32, string:date-time, object, quantity, [T]{set}, [T]{map:key},
[T]{atomic}, map[string]T, selector (a label selector), condition, podTemplate. Constraints are
`name=value` and `CEL{rule} msg="text"`, separated by `; `. $subdomain, $label and $labelkey stand
for the lexical rules of Kubernetes names.

Pod templates get the schema of core/v1 that the API server itself uses for Pods
(lib/manifest/schema/builtin_pod.cpp), so the two cannot differ.

The conversion strategy is None, which works where no webhook runs (the sandbox converts by itself).
A chart that runs the webhook patches the strategy in.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tools/crds"
TARGET = ROOT / "charts/regatta/files/crds"
GROUP = "kueue.x-k8s.io"
STORAGE = "v1beta2"
DEPRECATION = "This version is deprecated. Use v1beta2 instead."

DNS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
QUALIFIED = rf"^({DNS}(\.{DNS})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
MACROS = {
    "$subdomain": {"maxLength": 253, "pattern": rf"^{DNS}(\.{DNS})*$"},
    "$label": {"maxLength": 63, "pattern": f"^{DNS}$"},
    "$labelkey": {"pattern": QUALIFIED},
}
NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
QUANTITY = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": rf"^(\+|-)?{NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{NUMBER}))?$",
    "x-kubernetes-int-or-string": True,
}


def string(**more):
    return {"type": "string", **more}


def string_map():
    return {"type": "object", "additionalProperties": string()}


def condition():
    return {
        "type": "object",
        "required": ["lastTransitionTime", "message", "reason", "status", "type"],
        "properties": {
            "lastTransitionTime": string(format="date-time", description="When the status last changed."),
            "message": string(maxLength=32768, description="Details for humans."),
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0,
                                   "description": "Generation the condition was set for."},
            "reason": string(maxLength=1024, minLength=1, description="Reason in CamelCase.",
                             pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"),
            "status": string(enum=["True", "False", "Unknown"], description="Whether it holds."),
            "type": string(maxLength=316, pattern=QUALIFIED, description="What the condition is about."),
        },
    }


def selector():
    requirement = {
        "type": "object",
        "required": ["key", "operator"],
        "properties": {
            "key": string(),
            "operator": string(),
            "values": {"type": "array", "items": string(), "x-kubernetes-list-type": "atomic"},
        },
    }
    return {
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "matchExpressions": {"type": "array", "items": requirement,
                                 "x-kubernetes-list-type": "atomic"},
            "matchLabels": string_map(),
        },
    }


# Types that begin with an inlined reference: atomic in Kueue's CRDs, as references are, although
# they are not in core/v1.
INLINED_REFERENCES = ("ConfigMapEnvSource", "SecretEnvSource", "ConfigMapVolumeSource",
                      "ConfigMapProjection", "SecretProjection")


class CoreTypes:
    """The types of core/v1 in the listing of lib/manifest."""

    def __init__(self):
        text = (ROOT / "lib/manifest/schema/builtin_pod.cpp").read_text()
        self.types = {}
        fields = None
        listing = re.search(r'R"\((.*)\)"', text, re.S)[1]
        for line in re.sub(r" \+\n\s*", " ", listing).splitlines():
            line = line.split(" -- ")[0].rstrip()
            words = line.split()
            if line.startswith("type "):
                fields = self.types[words[1]] = {"atomic": "atomic" in words[2:], "fields": []}
            elif line.startswith("kind "):
                fields = {"fields": []}
            elif line.startswith("  "):
                fields["fields"].append(words)

    def schema(self, name):
        scalar = {
            "string": string(), "bool": {"type": "boolean"}, "bytes": string(format="byte"),
            "int32": {"type": "integer", "format": "int32"},
            "int64": {"type": "integer", "format": "int64"}, "number": {"type": "number"},
            "time": string(format="date-time"), "microtime": string(format="date-time"),
            "quantity": dict(QUANTITY),
            "intstr": {"anyOf": QUANTITY["anyOf"], "x-kubernetes-int-or-string": True},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        }
        if name in scalar:
            return scalar[name]
        if name == "LabelSelector":
            return selector()
        if name == "ObjectMeta":
            return embedded_metadata()
        if name.startswith("[]"):
            return {"type": "array", "items": self.schema(name[2:])}
        if name.startswith("{}"):
            return {"type": "object", "additionalProperties": self.schema(name[2:])}
        if name not in self.types:  # described elsewhere; rare enough inside pods
            return scalar["any"]
        schema = self.struct(self.types[name])
        if name in INLINED_REFERENCES:
            schema["x-kubernetes-map-type"] = "atomic"
        return schema

    def struct(self, described):
        out = {"type": "object", "properties": {}}
        required = []
        for name, kind, *marks in described["fields"]:
            out["properties"][name] = self.field(kind, marks)
            if "!" in marks:
                required.append(name)
        if required:
            out["required"] = sorted(required)
        if described["atomic"]:
            out["x-kubernetes-map-type"] = "atomic"
        return out

    def field(self, kind, marks):
        schema = self.schema(kind)
        collection = "list" if kind.startswith("[]") else "map"
        for mark in marks:
            if mark in ("atomic", "set"):
                schema[f"x-kubernetes-{collection}-type"] = mark
            elif mark.startswith("map="):
                schema["x-kubernetes-list-type"] = "map"
                schema["x-kubernetes-list-map-keys"] = mark[4:].split(",")
            elif mark.startswith("default="):
                schema["default"] = json.loads(mark[8:])
        return schema


def embedded_metadata():
    return {
        "type": "object",
        "properties": {
            "annotations": string_map(),
            "finalizers": {"type": "array", "items": string()},
            "labels": string_map(),
            "name": string(),
            "namespace": string(),
        },
    }


def pod_template():
    return {"type": "object", "properties": {"metadata": embedded_metadata(),
                                             "spec": CoreTypes().schema("PodSpec")}}


def type_schema(text):
    if m := re.fullmatch(r"\[(.+)\](?:\{(.+)\})?", text):
        out = {"type": "array", "items": type_schema(m[1])}
        if m[2]:
            kind, _, keys = m[2].partition(":")
            out["x-kubernetes-list-type"] = kind
            if keys:
                out["x-kubernetes-list-map-keys"] = keys.split(",")
        return out
    if m := re.fullmatch(r"map\[string\]([\w:]+)(?:\{atomic\})?", text):
        out = {"type": "object", "additionalProperties": type_schema(m[1])}
        if text.endswith("{atomic}"):
            out["x-kubernetes-map-type"] = "atomic"
        return out
    named = {"quantity": lambda: dict(QUANTITY), "selector": selector, "condition": condition,
             "podTemplate": pod_template}
    if text in named:
        return named[text]()
    kind, _, form = text.partition(":")
    assert kind in ("string", "boolean", "integer", "object"), f"unknown type {text}"
    return {"type": kind, **({"format": form} if form else {})}


def scalar(schema, text):
    return int(text) if schema.get("type") == "integer" else text


def apply_constraints(schema, text):
    while text:
        if m := re.match(r'CEL\{(.*?)\} msg="((?:[^"\\]|\\.)*)"(?:; )?', text):
            schema.setdefault("x-kubernetes-validations", []).append({"rule": m[1], "message": m[2]})
        elif m := re.match(r"(\$\w+)(?:; |$)", text):
            schema.update(MACROS[m[1]])
        else:
            m = re.match(r"(\w+)=(.*?)(?:; |$)", text)
            name, value = m[1], m[2]
            if name == "default":
                schema[name] = json.loads(value)
            elif name == "enum":
                schema[name] = ["" if v == '""' else v for v in value.split("|")]
            elif name == "pattern":
                schema[name] = value
            else:
                schema[name] = int(value)
        text = text[m.end():].strip()


def parse_field(line):
    """(path, required, schema)"""
    line, _, description = line.partition(" # ")
    path, kind, *rest = line.split(" | ") if "CEL{" not in line else split_with_rules(line)
    schema = type_schema(kind.strip())
    for part in rest:
        part = part.strip()
        if m := re.match(r"(items|values): (.*)", part):
            apply_constraints(schema["items" if m[1] == "items" else "additionalProperties"], m[2])
        else:
            apply_constraints(schema, part)
    if description:
        schema["description"] = description
    return path.rstrip("*"), path.endswith("*"), schema


def split_with_rules(line):
    """Splits at separators outside of CEL rules, which may contain ` | `."""
    rules = re.findall(r'CEL\{.*?\} msg="(?:[^"\\]|\\.)*"', line)
    for i, rule in enumerate(rules):
        line = line.replace(rule, f"\0{i}\0", 1)
    parts = line.split(" | ")
    return [re.sub("\0(\\d+)\0", lambda m: rules[int(m[1])], part) for part in parts]


def insert(root, path, required, schema):
    if path == "(root)":
        root.update({k: v for k, v in schema.items() if k != "type"})
        return
    node = root
    *parents, name = path.split(".")
    for parent in parents:
        node = node["properties"][parent.removesuffix("[]")]
        if parent.endswith("[]"):
            node = node["items"]
    properties = node.setdefault("properties", {})
    properties[name] = schema
    if required:
        node["required"] = sorted({*node.get("required", []), name})


def object_schema(kind, description, fields):
    root = {
        "type": "object",
        "description": description,
        "properties": {
            "apiVersion": string(description="Version of the API this object is written in."),
            "kind": string(description=f"Always {kind}."),
            "metadata": {"type": "object"},
        },
    }
    for field in sorted(fields.values(), key=lambda f: f[0].count(".")):
        insert(root, *field)
    return root


def read_source(path):
    head, columns, sections = {}, {}, {}
    section = None
    for line in path.read_text().splitlines():
        if line.startswith("--- "):
            section = sections.setdefault(line[4:], [])
        elif section is not None:
            if line.strip():
                section.append(line)
        elif line.startswith("column "):
            version, text = line[7:].split(": ", 1)
            columns.setdefault(version, []).append(text.split(" | "))
        elif line.strip():
            key, value = line.split(": ", 1)
            head[key] = value
    return head, columns, sections


def fields_of(sections, version):
    fields = {}
    for line in sections[STORAGE] + (sections[version] if version != STORAGE else []):
        if line.startswith("- "):
            del fields[line[2:]]
        else:
            field = parse_field(line)
            fields[field[0]] = field
    return fields


def column(parts):
    name, kind, path, priority, description = parts
    out = {"name": name, "type": kind, "description": description, "jsonPath": path}
    if priority != "0":
        out["priority"] = int(priority)
    return out


def version_entry(head, columns, sections, version):
    out = {"name": version, "served": True, "storage": version == STORAGE}
    if head.get("deprecated") == version:
        out |= {"deprecated": True, "deprecationWarning": DEPRECATION}
    if version in columns:
        out["additionalPrinterColumns"] = [column(c) for c in columns[version]]
    if selectable := head.get(f"selectable {version}"):
        out["selectableFields"] = [{"jsonPath": selectable}]
    schema = object_schema(head["kind"], head["description"], fields_of(sections, version))
    out["schema"] = {"openAPIV3Schema": schema}
    if head["status"] == "yes":
        out["subresources"] = {"status": {}}
    return out


def definition(path):
    head, columns, sections = read_source(path)
    kind = head["kind"]
    names = {"kind": kind, "listKind": f"{kind}List", "plural": head["plural"],
             "singular": kind.lower(), "shortNames": head["short"].split()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{head['plural']}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": head["scope"],
            "conversion": {"strategy": "None"},
            "versions": [version_entry(head, columns, sections, v) for v in ("v1beta1", STORAGE)],
        },
    }


def yaml_scalar(value):
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9(][A-Za-z0-9_.,;'()/-]*)*", value)
        word = value.lower() in ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
        return value if plain and not word else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def yaml_lines(value, indent=""):
    """Block style; lists are indented under their key."""
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, (dict, list)) and member:
                yield f"{indent}{key}:"
                yield from yaml_lines(member, indent + "  ")
            else:
                yield f"{indent}{key}: {yaml_scalar(member)}"
    else:
        for item in value:
            if isinstance(item, (dict, list)) and item:
                first, *others = yaml_lines(item, indent + "  ")
                yield f"{indent}- {first.lstrip()}"
                yield from others
            else:
                yield f"{indent}- {yaml_scalar(item)}"


def main():
    wrong = []
    TARGET.mkdir(parents=True, exist_ok=True)
    for path in sorted(SOURCE.glob("*.crd")):
        target = TARGET / f"{GROUP}_{path.stem}.yaml"
        text = "# Generated by tools/crdgen.py from " + path.relative_to(ROOT).as_posix() + ".\n"
        text += "\n".join(yaml_lines(definition(path))) + "\n"
        if "--check" not in sys.argv[1:]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            wrong.append(target.relative_to(ROOT).as_posix())
    if wrong:
        print("not what tools/crdgen.py writes:", *wrong, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
