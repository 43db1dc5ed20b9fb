/// The open streams of a connection by stream id; nearly all are found without hashing.
///
/// A client's stream ids grow by two, so `id / 2` modulo a power of two gives each concurrently open stream its own
/// slot. A stream that stays open while thousands come and go is moved out of the table into a dictionary. So the table
/// grows with the number of open streams, never with the distance between their ids, which the peer could choose.
final class StreamTable<Value> {
    struct Slot {
        /// 0 marks a free slot.
        var streamID: Int32
        var value: Value
    }

    private let empty: Value
    private var slots: UnsafeMutablePointer<Slot>
    private(set) var capacity: Int
    /// Streams whose slots were needed by later ones; there are few unless latencies differ much.
    private var laggards: [Int32: UnsafeMutablePointer<Slot>] = [:]
    private(set) var count = 0
    /// No stream in the table, apart from laggards, has a lower id.
    private(set) var oldest: Int32 = 1

    /// - Parameters:
    ///   - empty: the value of a free slot.
    ///   - capacity: a power of two; the table grows when half of it is in use.
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

    /// The slot of an open stream, or nil; valid until the next insertion.
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

    /// Frees a slot and returns its value.
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

    /// Calls `body` with a client's open streams below `next`: first the laggards, then the others from the oldest on,
    /// until it returns false.
    func forEachOldest(below next: Int32, _ body: (Int32, Value) -> Bool) {
        for (streamID, laggard) in laggards { _ = body(streamID, laggard.pointee.value) }
        // A client's ids have no gaps, so a stream further back than the table's capacity has become a laggard.
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

    /// Memory for slots, aligned so that a slot of 64 bytes is in one cache line.
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
