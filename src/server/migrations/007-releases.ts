/**
 * The releases of the engine that workspaces may ask for. Those that are there from the start are whole minor lines, each
 * from patch 0 to its last; a seed adds others.
 */
const LAST_PATCHES: readonly (readonly [line: string, lastPatch: number])[] = [
  ['0.11', 15],
  ['0.12', 31],
  ['0.13', 7],
  ['0.14', 11],
  ['0.15', 5],
  ['1.0', 11],
  ['1.1', 9],
  ['1.2', 9],
  ['1.3', 10],
  ['1.4', 7],
  ['1.5', 7],
  ['1.6', 6],
  ['1.7', 5],
  ['1.8', 5],
  ['1.9', 8],
  ['1.10', 5],
  ['1.11', 4],
];

const VERSIONS = [
  ...LAST_PATCHES.flatMap(([line, last]) =>
    Array.from({ length: last + 1 }, (_, patch) => `${line}.${patch}`),
  ),
  '1.10.0-beta1',
  '1.10.0-rc1',
  '1.11.0-beta1',
  '1.11.0-rc1',
];

export const RELEASES = `
CREATE TABLE releases (
  version TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO releases (version) VALUES ${VERSIONS.map((version) => `('${version}')`).join(', ')};
`;
