/**
 * Loaded into a command with `node --import`: just before the rename with the given number, its destination becomes a folder, as if
 * another branch was checked out in between. The system then refuses the rename.
 */
import { mkdirSync, promises, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env['FOLDER_AT_RENAME']);
const { rename } = promises;
let count = 0;

promises.rename = async (from, to) => {
  count += 1;
  if (count === at) {
    rmSync(to);
    mkdirSync(to);
  }
  await rename(from, to);
};
syncBuiltinESMExports();
