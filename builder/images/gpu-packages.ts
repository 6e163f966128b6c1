/**
 * Builds of llama.cpp for GPUs (75 and 190 MB) are no dependencies of this program: npm fetches them when an image of theirs is
 * first built. Of the version that is locked for processors, which a test compares.
 */
export const GPU_PACKAGES: Record<string, { version: string; integrity: string } | undefined> = {
  '@node-llama-cpp/linux-x64-cuda': {
    version: '3.22.1',
    integrity:
      'sha512-8rQCjyNNLZJUFit+YpjwlC4hwkKgOMIkB2wuycKBf8NU2O3ySKbiWZQ8aw9ku2nUTXjSnUIrE6KB88itduTBuA==',
  },
  '@node-llama-cpp/linux-x64-vulkan': {
    version: '3.22.1',
    integrity:
      'sha512-bBxqU+JOcBu1nb5Qj2zcMci+JByT1E8EajHvYodyNfVIPkEhXh+/HMwR1/BT7xP08YK0hks+kM8fglER0P8JEg==',
  },
};
