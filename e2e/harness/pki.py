"""Certificates for kube-apiserver, made by the openssl program."""
import os
import subprocess

SERVER = """basicConstraints=CA:FALSE
extendedKeyUsage=serverAuth
subjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default.svc
"""


def openssl_in(folder):
    """A function that runs openssl there."""
    def openssl(*args):
        done = subprocess.run(["openssl", *args], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {args[0]}: {done.stderr.strip()}")
    return openssl


def make_pki(folder):
    """ca.crt ca.key server.crt server.key sa.key sa.pub, and those of the front proxy, in `folder`."""
    openssl = openssl_in(folder)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "30",
            "-subj", f"/CN=e2e-{os.path.basename(folder)}",
            "-addext", "keyUsage=critical,keyCertSign,digitalSignature")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=kube-apiserver")
    with open(os.path.join(folder, "server.ext"), "w") as f:
        f.write(SERVER)
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "30", "-extfile", "server.ext", "-out", "server.crt")
    openssl("req", "-x509", *key, "-keyout", "front-proxy-ca.key", "-out", "front-proxy-ca.crt",
            "-days", "30", "-subj", "/CN=front-proxy-ca",
            "-addext", "keyUsage=critical,keyCertSign,digitalSignature")
    openssl("req", *key, "-keyout", "front-proxy.key", "-out", "front-proxy.csr",
            "-subj", "/CN=front-proxy-client")
    with open(os.path.join(folder, "client.ext"), "w") as f:
        f.write("basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n")
    openssl("x509", "-req", "-in", "front-proxy.csr", "-CA", "front-proxy-ca.crt",
            "-CAkey", "front-proxy-ca.key", "-CAcreateserial", "-days", "30",
            "-extfile", "client.ext", "-out", "front-proxy.crt")
    openssl("genrsa", "-out", "sa.key", "2048")
    openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")


def client_certificate(folder, user):
    """(certificate, key) of that user as PEM, signed by the authority in `folder`."""
    openssl = openssl_in(folder)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", f"{user}.key", "-out", f"{user}.csr", "-subj", f"/CN={user}")
    with open(os.path.join(folder, "user.ext"), "w") as f:
        f.write("basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n")
    openssl("x509", "-req", "-in", f"{user}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "1", "-extfile", "user.ext", "-out", f"{user}.crt")
    made = []
    for name in (f"{user}.crt", f"{user}.key"):
        with open(os.path.join(folder, name)) as f:
            made.append(f.read())
    return tuple(made)
