/**
 * Loaded into a command before anything else (`node --import`): just before the file that it was told takes the place of another,
 * that place becomes a folder, as if somebody had changed branches in between. The system then refuses to replace it.
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
