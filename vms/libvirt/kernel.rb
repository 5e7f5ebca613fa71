# SPDX-License-Identifier: Apache-2.0
# Which kernel a variant has: that of the last one it extends, or its own, that has patches (pathwarp/prepare/kernel.py).

require "yaml"

module Pathwarp
  UNPATCHED = "mainline"

  # The kernel's name; `variants` is the folder of all variants.
  def self.kernel(variants, variant)
    seen = []
    until variant.nil? || seen.include?(variant)
      return variant if File.exist?(File.join(variants, variant, "series"))

      seen << variant
      variant = YAML.load_file(File.join(variants, variant, "variant.yaml"))["extends"]
    end
    UNPATCHED
  end
end
