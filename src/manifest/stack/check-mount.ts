/** Checks the name of a mount, of a target and of its login alike: both become segments of the paths that are sent. */
import type { Path } from '../../model/json/json.ts';
import { quoted } from '../../model/quoted.ts';
import { type Problem, pathText, quotedShort } from '../explain/problem.ts';

/** A name may have slashes inside. What is empty, `.` or `..` between them would lead elsewhere. */
export function checkMount(mount: string, path: Path): Problem[] {
  const bare = mount.replace(/^\/+|\/+$/g, '').replace(/^auth\//, '');
  const problem = (message: string, fix: string): Problem[] => [
    { code: 'mount', path, message: `${quoted(pathText(path))} ${message}`, found: quotedShort(mount), fix },
  ];
  if (bare.split('/').some((segment) => ['', '.', '..'].includes(segment)))
    return problem(
      'must be the name of a mount, and not a path that leads elsewhere',
      'write the name below "auth/"',
    );
  if (bare === mount) return [];
  return problem('must be the name below "auth/", without slashes around it', `write ${quoted(bare)}`);
}
