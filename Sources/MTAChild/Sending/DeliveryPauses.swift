import PushCore

/// Deliveries whose messages no longer leave.
struct DeliveryPauses: Sendable {
    private(set) var halts: [Int64: DispatchState.Halt] = [:]
    /// Deliveries that this child holds, until the database is seen to know it.
    private var onHold: Set<Int64> = []

    /// Takes the delivery's state from a claimed part.
    mutating func claim(_ delivery: Int64, _ halt: DispatchState.Halt?) {
        if let halt { halts[delivery] = halt }
    }

    /// Takes the delivery's state from the database; nil if its messages are sent.
    /// - Returns: whether its messages in the gateway must not leave any more.
    mutating func take(_ halt: DispatchState.Halt?, of delivery: Int64) -> Bool {
        // The database does not know yet that this child holds the delivery.
        if halt == nil, onHold.contains(delivery) { return false }
        onHold.remove(delivery)
        // A stopped or expired delivery stays so.
        if case .close? = halts[delivery] { return false }
        guard halts[delivery] != halt else { return false }
        halts[delivery] = halt
        return halt != nil
    }

    /// Notes that the delivery's validity has passed.
    /// - Returns: whether that is new: a stopped or expired delivery stays as it is.
    mutating func expire(_ delivery: Int64) -> Bool {
        if case .close? = halts[delivery] { return false }
        halts[delivery] = .close(.ignored, reason: "expired")
        return true
    }

    /// Holds the delivery, as this child has found a reason to.
    /// - Returns: whether that is new: false for a stopped or expired delivery, or one already held.
    mutating func hold(_ delivery: Int64) -> Bool {
        if case .close? = halts[delivery] { return false }
        guard onHold.insert(delivery).inserted else { return false }
        halts[delivery] = .giveBack
        return true
    }

    /// Forgets a delivery that has no part here any more.
    /// - Returns: whether this child held it and the database was not seen to know it.
    mutating func forget(_ delivery: Int64) -> Bool {
        halts[delivery] = nil
        return onHold.remove(delivery) != nil
    }
}
