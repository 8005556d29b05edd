"""The innermost loop of a convolution: sums of four points and eight filters, kept in the processor's registers.

The compiler vectorises a loop over filters, but then keeps its sums in memory; here the vectors are named.
"""

from __future__ import annotations

from typing import Any

from compiling.numba_import import llvmlite, numba

POINTS, FILTERS = 4, 8
"""Points and filters of a tile."""
LANES = 4
"""Numbers of a vector of WebAssembly."""


def _add_products(
    typing_context: Any, room: Any, to: Any, outputs: Any, at: Any, inputs: Any, weights: Any, place: Any
) -> Any:
    """Add to the tile at room[to], whose points are `outputs` apart, the products of `inputs` numbers of each of four
    points from room[at] on and of the weights [inputs, FILTERS] from weights[place] on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ir = llvmlite.ir
        numba_array = context.make_array(signature.args[0])
        floats, kernel = (numba_array(context, builder, args[i]).data for i in (0, 5))
        to, outputs, at, inputs, place = (args[i] for i in (1, 2, 3, 4, 6))
        vector = ir.VectorType(ir.FloatType(), LANES)
        word = to.type

        def pointer(base: Any, index: Any, kind: Any) -> Any:
            return builder.bitcast(builder.gep(base, [index]), kind.as_pointer())

        def target(point: int, part: int) -> Any:
            index = builder.add(to, builder.mul(outputs, word(point)))
            return pointer(floats, builder.add(index, word(LANES * part)), vector)

        tile = [(point, part) for point in range(POINTS) for part in range(FILTERS // LANES)]
        sums = {each: numba.core.cgutils.alloca_once(builder, vector) for each in tile}
        for each in tile:
            builder.store(builder.load(target(*each), align=4), sums[each])
        with numba.core.cgutils.for_range(builder, inputs) as loop:
            first = builder.add(place, builder.mul(loop.index, word(FILTERS)))
            parts = [
                builder.load(pointer(kernel, builder.add(first, word(LANES * part)), vector), align=4)
                for part in range(FILTERS // LANES)
            ]
            for point in range(POINTS):
                index = builder.add(builder.add(at, loop.index), builder.mul(inputs, word(point)))
                x = builder.load(builder.gep(floats, [index]))
                alone = builder.insert_element(ir.Constant(vector, ir.Undefined), x, ir.IntType(32)(0))
                zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
                spread = builder.shuffle_vector(alone, ir.Constant(vector, ir.Undefined), zeros)
                for part, w in enumerate(parts):
                    place_of = sums[point, part]
                    builder.store(builder.fadd(builder.load(place_of), builder.fmul(spread, w)), place_of)
        for each in tile:
            builder.store(builder.load(sums[each]), target(*each), align=4)
        return context.get_dummy_value()

    number = numba.types.int64
    return numba.types.void(room, number, number, number, number, weights, number), code


add_products: Any = numba.extending.intrinsic(_add_products)
