"""The pool: order of blocks that go out, eviction, copies of one content."""

from vramledger.simulate.cache.pool import NULL, BlockPool


def _pool(size: int = 6, *, uncached_first: bool = True) -> BlockPool:
    return BlockPool(size, uncached_first=uncached_first)


def test_the_null_block_is_never_given_out() -> None:
    pool = _pool(4)

    assert pool.take(3) == [1, 2, 3]
    assert pool.free_blocks == 0
    assert pool.used_blocks == 3


def test_usage_leaves_the_null_block_out() -> None:
    pool = _pool(5)
    pool.take(1)

    assert pool.usage == 0.25


def test_blocks_without_a_name_go_out_again_first_and_in_the_order_given() -> None:
    pool = _pool()
    taken = pool.take(3)

    pool.give_back(reversed(taken))

    assert pool.take(5) == [3, 2, 1, 4, 5]


def test_named_blocks_queue_up_behind_all_others() -> None:
    pool = _pool()
    first, second, third = pool.take(3)
    pool.publish(second, (0, 0, 7))

    pool.give_back([third, second, first])

    assert pool.take(5) == [third, first, 4, 5, second]


def test_older_versions_queue_every_block_at_the_end() -> None:
    pool = _pool(uncached_first=False)
    taken = pool.take(2)

    pool.give_back(reversed(taken))

    assert pool.take(5) == [3, 4, 5, 2, 1]


def test_a_free_block_is_found_by_name_until_it_goes_out_again() -> None:
    pool = _pool(3)
    block, _other = pool.take(2)
    pool.publish(block, (0, 0, 7))
    pool.give_back([block])
    assert pool.find([(0, 0, 7)]) == [block]

    pool.take(1)

    assert pool.find([(0, 0, 7)]) is None


def test_a_touched_block_leaves_the_queue_and_is_held_twice_when_touched_twice() -> None:
    pool = _pool(3)
    (block,) = pool.take(1)
    pool.publish(block, (0, 0, 7))
    pool.give_back([block])

    pool.touch([block])
    pool.touch([block])
    pool.give_back([block])

    assert pool.used_blocks == 1
    pool.give_back([block])
    assert pool.used_blocks == 0


def test_the_oldest_copy_of_a_content_is_found_and_the_next_when_it_is_evicted() -> None:
    pool = _pool(3)
    first, second = pool.take(2)
    pool.publish(first, (0, 0, 7))
    pool.publish(second, (0, 0, 7))
    assert pool.find([(0, 0, 7)]) == [first]

    pool.give_back([first])
    pool.take(1)

    assert pool.find([(0, 0, 7)]) == [second]


def test_a_prefix_is_found_only_when_every_group_has_it() -> None:
    pool = _pool()
    (block,) = pool.take(1)
    pool.publish(block, (0, 0, 7))

    assert pool.find([(0, 0, 7), (1, 0, 7)]) is None


def test_the_null_block_counts_for_nothing() -> None:
    pool = _pool()

    pool.touch([NULL])
    pool.give_back([NULL])

    assert pool.evictable([NULL]) == 0
    assert pool.used_blocks == 0
