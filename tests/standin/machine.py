"""What lies in the folder of a stand-in (see standin.py): keys, home, Python with the simulated device, configuration of ssh."""

import json
import os
import pathlib
import pwd
import shutil

from processes import Failure, run

LIBRARY = "libremotemac_sim_mps.so"
LOADER = ("remotemac_sim_mps.py", "remotemac_sim_mps.pth")
MARK = "standin.json"


def write(path, text, mode=0o600):
    """Whole or not at all, and never readable for others in between."""
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temp, mode)
    os.replace(temp, path)


class Machine:
    """One stand-in, that is one folder: its keys, home, Python and configuration."""

    def __init__(self, folder):
        self.dir = pathlib.Path(os.path.abspath(folder))
        self.home = self.dir / "home"
        self.venv = self.dir / "venv"
        self.python = self.venv / "bin" / "python"
        self.state = self.home / ".local" / "state" / "remotemac-host"  # where remotemac puts it on a Linux host
        self.log = self.dir / "sshd.log"
        self.ssh_config = self.dir / "ssh_config"
        self.user = pwd.getpwuid(os.geteuid()).pw_name

    # ---- what is on disk ----

    def record(self):
        try:
            return json.loads((self.dir / MARK).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Failure(f"{self.dir / MARK} cannot be read ({error}); delete the folder {self.dir} and start anew") from error

    def site_packages(self):
        found = sorted((self.venv / "lib").glob("python3*/site-packages"))
        if len(found) != 1:
            raise Failure(f"{self.venv} is not a whole virtual environment; delete it and start again")
        return found[0]

    # ---- making it ----

    def make_folders(self):
        if any(c in str(self.dir) for c in "\"'\\%$`\n\r\t") or not str(self.dir).isprintable():
            raise Failure(f"the path {self.dir!r} has characters that ssh's configuration cannot hold; choose another folder")
        if self.dir.is_dir() and any(self.dir.iterdir()) and not (self.dir / MARK).is_file():
            raise Failure(f"{self.dir} holds something else than a stand-in; choose a new or empty folder")
        self.state.mkdir(parents=True, exist_ok=True)
        for folder in (self.dir, self.home, self.state):
            os.chmod(folder, 0o700)

    def make_keys(self):
        for name in ("host_key", "client_key"):
            if not (self.dir / name).is_file() or not (self.dir / f"{name}.pub").is_file():
                (self.dir / name).unlink(missing_ok=True)
                words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "remotemac-standin", "-f", self.dir / name]
                run(words, "making the key")
        write(self.dir / "authorized_keys", (self.dir / "client_key.pub").read_text(encoding="ascii"))

    def make_python(self, base):
        """A virtual environment that sees the packages of another one and adds nothing but the simulated device."""
        if not os.access(base, os.X_OK):
            raise Failure(f"there is no Python {base} with torch; make it: sh tests/setup.sh, or name one: --packages-from")
        question = "import json, site, sys; print(json.dumps([sys.version, sys.prefix, site.getsitepackages()]))"
        facts = json.loads(run([base, "-I", "-c", question], f"asking {base} about itself"))
        mark = self.venv / MARK
        if mark.is_file() and json.loads(mark.read_text(encoding="utf-8")) == facts and os.access(self.python, os.X_OK):
            return False
        shutil.rmtree(self.venv, ignore_errors=True)
        run([base, "-m", "venv", "--without-pip", self.venv], "making the stand-in's virtual environment (package python3-venv)")
        lines = "".join(f"import site; site.addsitedir({folder!r})\n" for folder in facts[2])
        write(self.site_packages() / "remotemac_standin_packages.pth", lines, 0o644)
        write(mark, json.dumps(facts))
        return True

    def put_device(self, library, faults):
        """The library and its loader go into the stand-in's own Python: no other Python on this machine ever sees them."""
        site = self.site_packages()
        for source in (library, library.with_name(LOADER[0]), library.with_name(LOADER[1])):
            if not source.is_file():
                raise Failure(f"{source} is missing; build it again: cmake --build --preset dev --target remotemac_sim_mps")
            temp = site / f".{source.name}.{os.getpid()}"
            shutil.copyfile(source, temp)
            os.replace(temp, site / source.name)  # a process that has the old one loaded keeps it
        if faults is not None:
            try:
                write(site / "faults.txt", pathlib.Path(faults).read_text(encoding="utf-8"), 0o644)
            except OSError as error:
                raise Failure(f"the fault file cannot be read: {error}") from error
        else:
            (site / "faults.txt").unlink(missing_ok=True)

    def check_device(self, library):
        code = "import torch; assert torch.backends.mps.is_available(); print(torch.ones(2, device='mps').sum().item())"
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        try:
            said = run([self.python, "-c", code], "trying the simulated MPS device", env=environment)
        except Failure as failure:
            raise Failure(f"{failure}\nIf torch is another one than {library} was built for, build it anew: cmake --preset dev "
                          "--fresh && cmake --build --preset dev --target remotemac_sim_mps") from failure
        if said.strip() != "2.0":
            raise Failure(f"the simulated MPS device adds 1 and 1 to {said.strip()}")

    def write_host_toml(self, device):
        text = ["# Written by standin.py at each start: what the owner of this host decides."]
        text += [f"python = {json.dumps(str(self.python))}", f"packages_from = {json.dumps(str(self.python))}"]
        if device:
            text.append(f"worker_preload = [{json.dumps(str(self.site_packages() / LIBRARY))}]")
        write(self.state / "host.toml", "\n".join(text) + "\n")

    def write_login(self):
        """Every login goes through this script: HOME, PATH and the current folder are the stand-in's, never the real user's."""
        text = f"""#!/bin/sh
# Written by standin.py: what a login to the stand-in runs.
HOME='{self.home}'
PATH='{self.venv}/bin':/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export HOME PATH
cd "$HOME" || exit 1
if [ -n "${{SSH_ORIGINAL_COMMAND:-}}" ]; then
  exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
fi
exec "${{SHELL:-/bin/sh}}" -l
"""
        write(self.dir / "login.sh", text, 0o700)

    def write_configs(self, port):
        server = f"""ListenAddress 127.0.0.1
Port {port}
HostKey "{self.dir}/host_key"
AuthorizedKeysFile "{self.dir}/authorized_keys"
AllowUsers {self.user}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
PermitUserRC no
AllowTcpForwarding no
AllowAgentForwarding no
X11Forwarding no
MaxStartups 100
MaxSessions 20
PrintMotd no
LogLevel VERBOSE
SetEnv "HOME={self.home}"
Subsystem sftp /usr/lib/openssh/sftp-server
ForceCommand /bin/sh '{self.dir}/login.sh'
"""
        client = f"""Host standin
  HostName 127.0.0.1
  Port {port}
  User {self.user}
  IdentityFile "{self.dir}/client_key"
  IdentitiesOnly yes
  UserKnownHostsFile "{self.dir}/known_hosts"
  StrictHostKeyChecking yes
"""
        write(self.dir / "sshd_config", server)
        write(self.ssh_config, client)
        key = (self.dir / "host_key.pub").read_text(encoding="ascii").split()
        write(self.dir / "known_hosts", f"[127.0.0.1]:{port} {key[0]} {key[1]}\n")
