/** Who pushed the commits of a pull request of GitHub, as the log of its branch says. Source: wire/code-hosts 7 */
import type { PushedBranch, Pushes } from './pull-requests.ts';
import type { Item, Reading } from './reading.ts';

/** A hundred pushes each. */
const maxPages = 50;

/** Of a ref that there is not, or not any more. */
const noSuchRef = [404, 422];

/** Reads the log of the branch and, where that does not have the head, as after the branch was deleted, that of the repository. */
export async function readGithubPushes(
  reading: Reading,
  { from, branch, head }: PushedBranch,
  commits: readonly string[],
): Promise<Pushes> {
  if (from === undefined) return { is: 'unknown', why: 'the repository that its head is in was deleted' };
  const root = `/repos/${from.split('/').map(encodeURIComponent).join('/')}`;
  const ref = `refs/heads/${branch}`;
  const wanted = new Set([...commits, head]);
  for (const filter of [`&ref=${encodeURIComponent(ref)}`, '']) {
    const path = `${root}/activity?direction=desc&per_page=100${filter}`;
    const found = await readLog(
      reading,
      path,
      (item) => item.text('ref') === ref && wanted.has(item.text('after')),
    );
    if (found === undefined)
      return {
        is: 'unknown',
        why: `GitHub lists more than ${maxPages * 100} pushes, which are too many to read`,
      };
    if (!found.some((item) => item.text('after') === head)) continue;
    const by = found.map((item) => item.mayItem('actor')?.text('login'));
    if (by.includes(undefined)) return { is: 'unknown', why: 'an account that pushed to it was deleted' };
    return { is: 'known', by: [...new Set(by.flatMap((login) => login ?? []))] };
  }
  return { is: 'unknown', why: `GitHub does not say who pushed ${head}` };
}

/** @returns undefined when there are too many pages */
async function readLog(
  reading: Reading,
  path: string,
  concerns: (item: Item) => boolean,
): Promise<readonly Item[] | undefined> {
  const found: Item[] = [];
  let cursor = '';
  for (let read = 0; read < maxPages; read += 1) {
    const { items, next } = await reading.page(
      cursor === '' ? path : `${path}&after=${encodeURIComponent(cursor)}`,
      noSuchRef,
    );
    found.push(...items.filter(concerns));
    if (next === undefined) return found;
    cursor = next;
  }
  return undefined;
}
