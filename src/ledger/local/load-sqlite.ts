/**
 * Loads `node:sqlite` without its "experimental feature" warning, which Node 22 would print on the user's stderr. Warnings
 * are intercepted only while the module loads, and only this one is dropped.
 */
import process from 'node:process';

type SqliteModule = typeof import('node:sqlite');

/** Call it on first use: most commands need no database. */
export function loadSqlite(): SqliteModule {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes('SQLite is an experimental feature'))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
