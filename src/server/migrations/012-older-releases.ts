/** Older minor lines of the engine, each from patch 0 to its last, and the pre-releases that each first patch had. */

const LAST_PATCHES: readonly (readonly [line: string, lastPatch: number])[] = [
  ['0.7', 13],
  ['0.8', 8],
  ['0.9', 11],
  ['0.10', 8],
];

const PRE_RELEASES: Readonly<Record<string, string>> = {
  '0.12.0': 'alpha1 alpha2 alpha3 alpha4 beta1 beta2 rc1',
  '0.13.0': 'beta1 beta2 beta3 rc1',
  '0.14.0': 'beta1 beta2 rc1',
  '0.15.0': 'beta1 beta2 rc1 rc2',
  '1.1.0': 'beta1 beta2 rc1',
  '1.2.0': 'beta1 rc1 rc2',
  '1.3.0': 'beta1 rc1',
  '1.4.0': 'beta1 beta2 rc1',
  '1.5.0': 'beta1 beta2 rc1 rc2',
  '1.6.0': 'beta1 beta2 beta3 rc1',
  '1.7.0': 'beta1 beta2 rc1 rc2',
  '1.8.0': 'beta1 rc1 rc2',
  '1.9.0': 'beta1 rc1 rc2 rc3',
  '1.10.0': 'beta1 rc1 rc2 rc3',
  '1.11.0': 'beta1 beta2 rc1 rc2 rc3',
};

const VERSIONS = [
  ...LAST_PATCHES.flatMap(([line, last]) =>
    Array.from({ length: last + 1 }, (_, patch) => `${line}.${patch}`),
  ),
  ...Object.entries(PRE_RELEASES).flatMap(([version, names]) =>
    names.split(' ').map((name) => `${version}-${name}`),
  ),
];

export const OLDER_RELEASES = `
INSERT OR IGNORE INTO releases (version) VALUES ${VERSIONS.map((version) => `('${version}')`).join(', ')};
`;
