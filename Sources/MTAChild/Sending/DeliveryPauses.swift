import PushCore

/// Deliveries of which nothing more leaves.
struct DeliveryPauses: Sendable {
    private(set) var halts: [Int64: DispatchState.Halt] = [:]
    /// Deliveries that this child holds back, until the database is seen to know it.
    private var onHold: Set<Int64> = []

    /// A part of the delivery was claimed, which says how the delivery is.
    mutating func claim(_ delivery: Int64, _ halt: DispatchState.Halt?) {
        if let halt { halts[delivery] = halt }
    }

    /// The database says how the delivery is; nil if it is sent.
    /// - Returns: whether what it has in the gateway must not leave any more.
    mutating func take(_ halt: DispatchState.Halt?, of delivery: Int64) -> Bool {
        // The database does not know yet what this child has found.
        if halt == nil, onHold.contains(delivery) { return false }
        onHold.remove(delivery)
        // A delivery that was stopped or has expired stays so.
        if case .close? = halts[delivery] { return false }
        guard halts[delivery] != halt else { return false }
        halts[delivery] = halt
        return halt != nil
    }

    /// The delivery's validity has passed.
    /// - Returns: whether that is new: one that was stopped, or has expired before, stays as it is.
    mutating func expire(_ delivery: Int64) -> Bool {
        if case .close? = halts[delivery] { return false }
        halts[delivery] = .close(.ignored, reason: "expired")
        return true
    }

    /// This child has found that the delivery has to wait.
    /// - Returns: whether that is new: one that was stopped or has expired is over, and once is enough.
    mutating func hold(_ delivery: Int64) -> Bool {
        if case .close? = halts[delivery] { return false }
        guard onHold.insert(delivery).inserted else { return false }
        halts[delivery] = .giveBack
        return true
    }

    /// Nothing of the delivery is here any more.
    /// - Returns: whether this child held it back, and the database was not seen to know it.
    mutating func forget(_ delivery: Int64) -> Bool {
        halts[delivery] = nil
        return onHold.remove(delivery) != nil
    }
}
