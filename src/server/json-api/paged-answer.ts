/** The answer of a list that is read page by page: one shape for every subject. */
import { pageOfRows, type PagedQuery } from '../data-file/page-of-rows.ts';
import type { Services } from '../services.ts';
import type { Resource } from './document.ts';
import { type ApiAnswer, type ApiRequest, ok } from './endpoint.ts';
import { describePage, pageWindow, requestedPage } from './pagination.ts';

interface Shown {
  readonly data: readonly Resource[];
  readonly included: readonly Resource[];
}

/** The page that the request asks for; `show` turns its rows into resources, all at once, with what is included if anything is. */
export function pagedAnswer<Row>(
  services: Services,
  request: ApiRequest,
  query: PagedQuery,
  show: (rows: Row[]) => readonly Resource[] | Shown,
): ApiAnswer {
  const page = requestedPage(request.query);
  const { rows, totalCount } = pageOfRows<Row>(services.database, query, pageWindow(page));
  const shown = show(rows);
  return ok({ ...('data' in shown ? shown : { data: shown }), ...describePage(request, page, totalCount) });
}
