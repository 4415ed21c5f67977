/**
 * Which page of a list comes next. Only its number is taken from an answer: a link is never followed, so that no answer can send
 * the token to another address.
 * Source: wire/code-hosts 3
 */
import { headerOf, type RawAnswer } from '../transport/exchange.ts';

/** @returns undefined when this was the last one, or when there is no such list */
export function nextPageOf(answer: RawAnswer): number | undefined {
  return pageNumber(headerOf(answer, 'x-next-page')) ?? linkedPage(headerOf(answer, 'link') ?? '');
}

function linkedPage(link: string): number | undefined {
  const address = /<([^>]*)>\s*;[^,<]*\brel="?next"?/i.exec(link)?.[1];
  if (address === undefined || !URL.canParse(address, 'http://localhost')) return undefined;
  return pageNumber(new URL(address, 'http://localhost').searchParams.get('page') ?? undefined);
}

function pageNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
