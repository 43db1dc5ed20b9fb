/// The open streams of a connection, found by stream id: nearly all without hashing.
///
/// A client's stream ids grow by two, so `id / 2` modulo a power of two is a slot of its own for each of the streams that
/// are open at once. One that stays open while thousands come and go makes room and waits beside the table: the table grows
/// with the number of open streams, never with the distance between their ids, which the peer could choose.
final class StreamTable<Value> {
    struct Slot {
        /// 0 marks a free slot.
        var streamID: Int32
        var value: Value
    }

    private let empty: Value
    private var slots: UnsafeMutablePointer<Slot>
    private(set) var capacity: Int
    /// Streams whose places in the table were needed by later ones; few, if any, but where latencies differ much.
    private var laggards: [Int32: UnsafeMutablePointer<Slot>] = [:]
    private(set) var count = 0
    /// No stream of the table itself is below this id.
    private(set) var oldest: Int32 = 1

    /// - Parameters:
    ///   - empty: what a free slot holds.
    ///   - capacity: a power of two; it grows when half of it is in use.
    init(empty: Value, capacity: Int) {
        self.empty = empty
        self.capacity = capacity
        slots = Self.room(for: capacity)
        slots.initialize(repeating: Slot(streamID: 0, value: empty), count: capacity)
    }

    deinit {
        slots.deinitialize(count: capacity)
        slots.deallocate()
        for laggard in laggards.values {
            laggard.deinitialize(count: 1)
            laggard.deallocate()
        }
    }

    @inline(__always)
    private func index(_ streamID: Int32) -> Int {
        Int(streamID >> 1) & (capacity - 1)
    }

    /// The slot of an open stream, or nil; it stays valid until the next insertion.
    @inline(__always)
    func find(_ streamID: Int32) -> UnsafeMutablePointer<Slot>? {
        let slot = slots + index(streamID)
        if slot.pointee.streamID == streamID && streamID != 0 { return slot }
        return laggards.isEmpty ? nil : laggards[streamID]
    }

    func insert(_ streamID: Int32, _ value: consuming Value) {
        if count == 0 { oldest = streamID }
        if count >= capacity / 2 { grow() }
        let slot = slots + index(streamID)
        if slot.pointee.streamID != 0 { moveAside(slot) }
        slot.pointee.streamID = streamID
        slot.pointee.value = value
        count += 1
    }

    /// Frees a slot and gives back what it held.
    @inline(__always)
    func remove(_ slot: UnsafeMutablePointer<Slot>) -> Value {
        count -= 1
        let taken = slot.move()
        if slot >= slots && slot < slots + capacity {
            slot.initialize(to: Slot(streamID: 0, value: empty))
        } else {
            laggards[taken.streamID] = nil
            slot.deallocate()
        }
        return taken.value
    }

    /// Walks the open streams of a client below `next`: those beside the table, then from the oldest on, as long as `body`
    /// says so.
    func forEachOldest(below next: Int32, _ body: (Int32, Value) -> Bool) {
        for (streamID, laggard) in laggards { _ = body(streamID, laggard.pointee.value) }
        // A client's ids have no gaps: what is further back than the table is long has been moved aside.
        var id = max(oldest, next - Int32(clamping: 2 * capacity))
        oldest = id
        var passedOpen = false
        while id < next {
            if let slot = find(id) {
                passedOpen = true
                guard body(id, slot.pointee.value) else { return }
            } else if !passedOpen {
                oldest = id + 2
            }
            id += 2
        }
    }

    /// The ids of all open streams, in no order.
    func openStreams() -> [Int32] {
        (0..<capacity).map { slots[$0].streamID }.filter { $0 != 0 } + laggards.keys
    }

    /// Memory for slots, so that one of 64 bytes is in one line of the processor's cache.
    private static func room(for capacity: Int) -> UnsafeMutablePointer<Slot> {
        UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<Slot>.stride, alignment: 64)
            .bindMemory(to: Slot.self, capacity: capacity)
    }

    private func moveAside(_ slot: UnsafeMutablePointer<Slot>) {
        let laggard = Self.room(for: 1)
        laggard.moveInitialize(from: slot, count: 1)
        slot.initialize(to: Slot(streamID: 0, value: empty))
        laggards[laggard.pointee.streamID] = laggard
    }

    private func grow() {
        let old = slots
        let oldCapacity = capacity
        capacity *= 2
        slots = Self.room(for: capacity)
        slots.initialize(repeating: Slot(streamID: 0, value: empty), count: capacity)
        for position in 0..<oldCapacity where old[position].streamID != 0 {
            slots[index(old[position].streamID)] = old[position]
        }
        old.deinitialize(count: oldCapacity)
        old.deallocate()
    }
}
