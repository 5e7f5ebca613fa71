# SPDX-License-Identifier: Apache-2.0
"""Commands in namespaces of their own, where any user may mount things, and which nothing outlives."""

# Whoever calls, with all rights over the mounts of a namespace of its own: for `sh -c`, before what is to be run.
MOUNTING = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-euc")
# Whoever calls, root included, without any rights beyond those of the files' owner.
POWERLESS = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def mounting(script: str, *arguments: str) -> tuple[str, ...]:
    """A prefix that runs a command after the lines of `script`, which has `arguments` as $1 and so on."""
    drop = f"shift {len(arguments)}" if arguments else ""
    return (*MOUNTING, f'{script}\n{drop}\nexec "$@"', "sh", *arguments)
