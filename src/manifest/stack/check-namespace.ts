/** Checks the namespace of a target. The service reads it as a path, with and without slashes around it alike. */
import type { Path } from '../../model/json/json.ts';
import { quoted } from '../../model/quoted.ts';
import { type Problem, pathText, quotedShort } from '../explain/problem.ts';

/** A namespace may lie in another. What is empty, `.` or `..` between slashes names none. */
export function checkNamespace(namespace: string, path: Path): Problem[] {
  const bare = namespace.replace(/^\/+|\/+$/g, '');
  if (bare === '' || !bare.split('/').some((segment) => ['', '.', '..'].includes(segment))) return [];
  const message = `${quoted(pathText(path))} must be the path of a namespace`;
  return [
    {
      code: 'namespace',
      path,
      message,
      found: quotedShort(namespace),
      fix: 'write it as "team" or "org/team"',
    },
  ];
}
