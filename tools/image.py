#!/usr/bin/env python3
"""Makes a container image of a regatta binary, with Debian's files and no container runtime.

The image has the binary, the shared libraries that it needs, certificate authorities, and a user
that is not root. Beside it lies a list of what is in it (SPDX). The same binary and the same Debian
packages make the same bytes.
"""
import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "registry.example/regatta"  # the repository of charts/regatta/values.yaml
LIMIT = 60 * 1000 * 1000  # bytes, unpacked
USER = 65532
PROGRAM = "usr/bin/regatta"
# Packages whose headers are compiled into the binary.
COMPILED_IN = ("libboost1.81-dev", "libcli11-dev", "nlohmann-json3-dev")
# Packages of files that no library needs.
DATA = ("base-files", "ca-certificates")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, **options)
    if done.returncode != 0:
        text = done.stderr if isinstance(done.stderr, str) else done.stderr.decode(errors="replace")
        raise SystemExit(f"{' '.join(map(str, command))}: {text.strip() or done.returncode}")
    return done.stdout


def text_of(*command):
    return run(*command, text=True).strip()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


# --- what is in it

def libraries(binary):
    """The shared libraries that a program loads, as {path inside: path here}."""
    found = {}
    for line in text_of("ldd", binary).splitlines():
        match = re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line)
        if not match:
            if "linux-vdso" in line:
                continue
            raise SystemExit(f"{binary}: {line.strip()}")
        path = match[2]
        # Debian's merged folders: what is in /lib is in /usr/lib.
        inside = re.sub(r"^/(lib\w*)/", r"usr/\1/", path).lstrip("/")
        found[inside] = os.path.realpath(path)
    return found


def package_of(path):
    """The Debian package that installed a file."""
    for spelling in (path, re.sub(r"^/usr/", "/", path), "/usr" + path):
        done = subprocess.run(["dpkg-query", "-S", spelling], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(": ")[0].split(",")[0]
    raise SystemExit(f"no Debian package has {path}")


def packages(files):
    """What dpkg says about the packages: {name: (version, architecture, source, its status)}."""
    names = {package_of(path) for path in files} | set(DATA)
    return {name.split(":")[0]: described(name) for name in sorted(names)}


def described(name):
    fields = text_of("dpkg-query", "-W", "-f", "${Version}\n${Architecture}\n${source:Package}", name)
    version, architecture, source = fields.splitlines()
    return version, architecture, source, text_of("dpkg-query", "-s", name) + "\n"


def authorities():
    """Debian's certificate authorities; what this machine's administrator added is left out."""
    folder = pathlib.Path("/usr/share/ca-certificates/mozilla")
    return b"".join(p.read_bytes().rstrip(b"\n") + b"\n" for p in sorted(folder.glob("*.crt")))


class Tree:
    """Files of one layer, by path: content or link, and mode."""

    def __init__(self):
        self.entries = {}

    def file(self, path, content, mode=0o644):
        self.entries[path] = (content.encode() if isinstance(content, str) else content, None, mode)

    def link(self, path, target):
        self.entries[path] = (None, target, 0o777)

    def folder(self, path, mode=0o755):
        self.entries[path] = (None, None, mode)

    def tar(self, epoch):
        """The same entries make the same bytes: sorted, owned by root, all of one time."""
        for path in list(self.entries):
            for parent in list(pathlib.PurePosixPath(path).parents)[:-1]:
                self.entries.setdefault(str(parent), (None, None, 0o755))
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path, (content, target, mode) in sorted(self.entries.items()):
                info = tarfile.TarInfo(path)
                info.mtime, info.mode = epoch, mode
                if content is not None:
                    info.size = len(content)
                elif target is not None:
                    info.type, info.linkname = tarfile.SYMTYPE, target
                else:
                    info.type = tarfile.DIRTYPE
                tar.addfile(info, io.BytesIO(content) if content is not None else None)
        return out.getvalue()


def base_layer(needed, installed):
    """What changes with Debian only."""
    tree = Tree()
    for inside, path in needed.items():
        tree.file(inside, pathlib.Path(path).read_bytes(), 0o755)
    for name in ("lib", "lib64"):
        tree.link(name, f"usr/{name}")
    tree.file("etc/passwd", f"root:x:0:0:root:/:/sbin/nologin\n"
                            f"regatta:x:{USER}:{USER}:regatta:/:/sbin/nologin\n")
    tree.file("etc/group", f"root:x:0:\nregatta:x:{USER}:\n")
    tree.file("etc/nsswitch.conf", "hosts: files dns\n")
    tree.file("etc/ssl/certs/ca-certificates.crt", authorities())
    tree.link("usr/lib/ssl/certs", "/etc/ssl/certs")
    tree.link("usr/lib/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt")
    tree.file("usr/lib/os-release", pathlib.Path("/usr/lib/os-release").read_bytes())
    tree.link("etc/os-release", "../usr/lib/os-release")
    tree.folder("tmp", 0o1777)
    for name, (_, _, _, status) in installed.items():
        # Where scanners of images without dpkg look.
        tree.file(f"var/lib/dpkg/status.d/{name}", status)
        terms = pathlib.Path(f"/usr/share/doc/{name}/copyright")
        if terms.exists():
            tree.file(f"usr/share/doc/{name}/copyright", terms.read_bytes())
    return tree


def program_layer(binary):
    """The binary without line tables. They stay in the file that was built."""
    tree = Tree()
    with tempfile.TemporaryDirectory() as work:
        stripped = pathlib.Path(work) / "regatta"
        run("strip", "--strip-debug", "-o", stripped, binary)
        tree.file(PROGRAM, stripped.read_bytes(), 0o755)
    return tree


# --- the list of its parts

def bill_of_materials(version, program, installed, created):
    """SPDX 2.3 as JSON."""
    compiled = {n: described(n) for n in COMPILED_IN}
    distribution = text_of("sh", "-c", ". /usr/lib/os-release && echo $ID-$VERSION_ID")
    listed = [{
        "SPDXID": "SPDXRef-regatta", "name": "regatta", "versionInfo": version,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(program)}]}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-regatta")]
    for group, relation in ((installed, "DEPENDS_ON"), (compiled, "STATIC_LINK")):
        for name, (number, architecture, source, _) in group.items():
            identity = "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
            listed.append({
                "SPDXID": identity, "name": name, "versionInfo": number,
                "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
                "sourceInfo": f"built from Debian source package {source}", "filesAnalyzed": False,
                "externalRefs": [{
                    "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                    "referenceLocator": f"pkg:deb/debian/{name}@{number}?arch={architecture}"
                                        f"&distro={distribution}"}]})
            relations.append(("SPDXRef-regatta", relation, identity))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"regatta-{version}",
        "creationInfo": {"created": created, "creators": ["Tool: regatta-image"]},
        "packages": listed,
        "relationships": [{"spdxElementId": a, "relationshipType": r, "relatedSpdxElement": b}
                          for a, r, b in relations]}
    digest = sha256(json.dumps(document, sort_keys=True).encode())
    document["documentNamespace"] = f"https://regatta.dev/spdx/regatta-{version}-{digest}"
    return json.dumps(document, indent=2).encode() + b"\n"


# --- the image

class Layout:
    """A folder in the form of the OCI image layout."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "blobs/sha256").mkdir(parents=True)

    def add(self, content, media):
        digest = sha256(content)
        (self.folder / "blobs/sha256" / digest).write_bytes(content)
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": f"sha256:{digest}",
                "size": len(content)}

    def add_json(self, value, media):
        return self.add(json.dumps(value, sort_keys=True).encode(), media)

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value, sort_keys=True))

    def tar(self, epoch):
        tree = Tree()
        for path in self.folder.rglob("*"):
            if path.is_file():
                tree.file(str(path.relative_to(self.folder)), path.read_bytes())
        return tree.tar(epoch)


def image_config(version, created, architecture, layers):
    return {
        "architecture": architecture, "os": "linux", "created": created,
        "config": {
            "User": f"{USER}:{USER}", "WorkingDir": "/",
            "Entrypoint": [f"/{PROGRAM}"], "Cmd": ["manager"],
            "Env": ["PATH=/usr/bin"],
            "Labels": {"org.opencontainers.image.title": "regatta",
                       "org.opencontainers.image.version": version}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(tar)}" for tar in layers]},
        "history": [{"created": created, "created_by": what}
                    for what in ("Debian's libraries", "regatta")]}


def make(binary, out, version, epoch):
    """Writes the image into the folder `out`; returns the layout's folder."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    needed = libraries(binary)
    installed = packages(needed.values())
    program = program_layer(binary)
    trees = [base_layer(needed, installed), program]
    layers = [tree.tar(epoch) for tree in trees]
    size = sum(len(c) for tree in trees for c, _, _ in tree.entries.values() if c)
    if size > LIMIT:
        raise SystemExit(f"the image would have {size / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f}")
    layout = Layout(out / "oci")
    descriptors = [layout.add(gzip.compress(tar, 9, mtime=0), "layer.v1.tar+gzip") for tar in layers]
    architecture = text_of("dpkg", "--print-architecture")
    config = image_config(version, created, architecture, layers)
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": layout.add_json(config, "config.v1+json"), "layers": descriptors}
    entry = layout.add_json(manifest, "manifest.v1+json")
    entry["platform"] = {"architecture": architecture, "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": version,
                            "io.containerd.image.name": f"{NAME}:{version}"}
    layout.write("oci-layout", {"imageLayoutVersion": "1.0.0"})
    layout.write("index.json", {"schemaVersion": 2, "manifests": [entry],
                                "mediaType": "application/vnd.oci.image.index.v1+json"})
    (out / f"regatta-{version}.oci.tar").write_bytes(layout.tar(epoch))
    content = program.entries[PROGRAM][0]
    (out / f"regatta-{version}.spdx.json").write_bytes(
        bill_of_materials(version, content, installed, created))
    packed = sum(d["size"] for d in descriptors)
    print(f"{out}/regatta-{version}.oci.tar: {NAME}:{version}, {entry['digest']}\n"
          f"{size / 1e6:.1f} MB, {packed / 1e6:.1f} MB compressed, {len(installed)} Debian packages")
    return layout.folder


# --- trying it

def blob(folder, descriptor):
    content = (folder / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
    if f"sha256:{sha256(content)}" != descriptor["digest"] or len(content) != descriptor["size"]:
        raise SystemExit(f"{descriptor['digest']} is not what its digest says")
    return content


def unpack(folder, root):
    """Unpacks the image's layers; returns its configuration."""
    index = json.loads((folder / "index.json").read_text())
    manifest = json.loads(blob(folder, index["manifests"][0]))
    config = json.loads(blob(folder, manifest["config"]))
    for descriptor, wanted in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
        layer = gzip.decompress(blob(folder, descriptor))
        if f"sha256:{sha256(layer)}" != wanted:
            raise SystemExit(f"a layer is not {wanted}")
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            for member in tar:
                if (member.uid, member.gid) != (0, 0) or member.mode & 0o6000:
                    raise SystemExit(f"{member.name} is not root's, or is setuid")
                if member.isreg() and member.mode & 0o022:
                    raise SystemExit(f"{member.name} is writable")
            tar.extractall(root)
    return config


def verify(folder):
    """Runs the binary out of the unpacked root file system, as its user."""
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work) / "root"
        root.mkdir(mode=0o755)
        os.chmod(work, 0o755)
        config = unpack(folder, root)["config"]
        shutil.copytree(ROOT / "examples/topology", root / "tmp/examples")
        for path in (root / "tmp/examples").rglob("*"):
            path.chmod(0o644)
        user = ["--userspec", config["User"]]
        inside = ["unshare", "--net", "--mount", "--pid", "--fork", "chroot"]
        if os.geteuid() != 0:
            # Without root there is one user only, which is called root inside.
            user, inside = [], ["unshare", "--map-root-user", *inside[1:]]
        for args, wanted in ((["version"], 0), (["manager", "--help"], 0), (["manager"], 1),
                             (["simulate", "-f", "/tmp/examples", "--until", "1h"], 0)):
            command = [*inside, *user, str(root), *config["Entrypoint"], *args]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                                  env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            said = (done.stdout + done.stderr).strip()
            if done.returncode != wanted or "error while loading" in said:
                raise SystemExit(f"regatta {' '.join(args)} exits {done.returncode}:\n{said}")
        print(f"the binary runs in it as user {config['User']}")


# What REGATTA_HARDEN leaves in a program, as `readelf -hldW` prints it.
HARDENED = {
    "a position-independent executable": r"Flags:.* PIE\b",
    "relocations that are read-only": r"^  GNU_RELRO ",
    "symbols that are bound at the start": r"\bBIND_NOW\b",
    "a stack that is not executable": r"^  GNU_STACK .* RW ",
    "a guard of the stack": r" UND __stack_chk_fail@",
    "calls that know how long their buffers are": r" UND __(?!stack)\w+_chk@",
}


def unhardened(headers):
    """What a program lacks of HARDENED, by what readelf prints of it."""
    return [what for what, text in HARDENED.items() if not re.search(text, headers, re.M)]


def commit_time():
    """The time that the image bears: $SOURCE_DATE_EPOCH, or the commit's."""
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    return int(stated or text_of("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/bin/regatta")
    options.add_argument("--out", type=pathlib.Path, default=ROOT / "build/image")
    options.add_argument("--verify", action="store_true",
                         help="run the binary out of the image, and see that it is hardened")
    given = options.parse_args()
    version = re.search(r"project\(regatta VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    given.out.mkdir(parents=True, exist_ok=True)
    layout = make(given.binary, given.out, version, commit_time())
    if given.verify:
        verify(layout)
        lacking = unhardened(text_of("readelf", "-hldW", "--dyn-syms", given.binary))
        if lacking:
            raise SystemExit(f"{given.binary} is not hardened; it lacks " + ", ".join(lacking))
    return 0


if __name__ == "__main__":
    sys.exit(main())
