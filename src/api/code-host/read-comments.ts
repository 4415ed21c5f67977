/** The comments of a pull request with their times, for approvals. */
import type { ReviewApi } from './comments.ts';
import type { Comment } from './pull-requests.ts';
import type { Reading } from './reading.ts';

/** Without system comments, and without comments of deleted accounts. */
export async function commentsIn(
  reading: Reading,
  api: Pick<ReviewApi, 'createPath' | 'authorOf'>,
): Promise<readonly Comment[]> {
  const items = await reading.list(api.createPath);
  return items.flatMap((item) => {
    const comment = {
      id: item.number('id'),
      body: item.mayText('body') ?? '',
      createdAt: item.time('created_at'),
      updatedAt: item.time('updated_at'),
    };
    const author = api.authorOf(item.value);
    return typeof author === 'string' ? [{ ...comment, author }] : [];
  });
}
