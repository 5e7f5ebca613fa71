# SPDX-License-Identifier: Apache-2.0
"""What knows nothing of trials: complaints, units, files that may be damaged, hashes, errors of the system."""
