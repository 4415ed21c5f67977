/** Reads the pages of a list of a code host. Source: wire/code-hosts 3 */
import type { Json } from '../../model/json.ts';
import type { CodeHostAnswer } from '../code-host.ts';

/** The maximal number of pages: more comments, reviews or events than any pull request may have. */
const maxPages = 500;

/**
 * The pages of a list, in their order. An item may be there twice when the list changed meanwhile.
 * @param send asks for a page, from 1; throws for an answer that is a failure
 */
export async function* readPages(
  send: (page: number) => Promise<CodeHostAnswer>,
  fail: {
    /** for an answer that is no list */
    unexpected(answer: CodeHostAnswer): Error;
    endless(answer: CodeHostAnswer): Error;
  },
): AsyncGenerator<{ readonly answer: CodeHostAnswer; readonly items: readonly Json[] }> {
  for (let page: number | undefined = 1, read = 0; page !== undefined; read += 1) {
    const answer = await send(page);
    if (!Array.isArray(answer.body)) throw fail.unexpected(answer);
    yield { answer, items: answer.body as readonly Json[] };
    const { nextPage } = answer;
    if (nextPage !== undefined && (nextPage <= page || read >= maxPages)) throw fail.endless(answer);
    page = nextPage;
  }
}
