import PostgresClient
import PushCore

/// What to do with a delivery after an error of its preparation.
package enum PreparationDecision: Sendable, Hashable {
    /// The program itself knows that a retry would fail in the same way: the delivery is returned to its author, with
    /// this reason. No database error counts as this.
    case fails(String)
    /// An administrator of the database, or of the data that the target uses, may fix it: the delivery waits, and shows
    /// this reason.
    ///
    /// - Parameter isTimeout: whether a statement was cancelled at its time limit.
    case waits(String, isTimeout: Bool = false)
    /// It is a transient problem of the database.
    case passes

    /// Judges an error.
    ///
    /// A part whose messages cannot be loaded waits as well. There, a single person is left out if the view cannot be
    /// read for that person. Here, it would be unknown whether the filter selects that person, so the delivery waits
    /// until the view can be read for all. A condition in SQL has already been evaluated for each subscription
    /// separately (``isOfValues(_:)``), because it reads values that any client can register.
    ///
    /// - Parameter target: the delivery's target, if the failed statement reads the target's data.
    init(_ error: any Error, target: ChunkTarget?) {
        switch error {
        case let error as StoreError:
            switch error.code {
            case .unavailable: self = .waits("\(error)")
            case .notFound, .invalid, .conflict: self = .fails("\(error)")
            case .schema, .unbalancedPart, .unexpectedAnswer: self = .passes
            }
        case let error as PostgresError:
            let state = error.sqlState ?? ""
            let text = LoadProblem.text(error)
            let isOf = { (classes: [String]) in classes.contains { state.hasPrefix($0) } }
            if error.isConnectionLost {
                self = .passes
            } else if LoadProblem.isTimeout(error) {
                let subject =
                    target?.readMapping?.viewText ?? (target?.rawSQL == nil ? "the target" : "its condition in SQL")
                self = .waits("\(subject) does not answer in time: \(text)", isTimeout: true)
            } else if target?.rawSQL != nil, isOf(Self.ofConditions) {
                self = .waits("its condition in SQL cannot be computed now for some subscriptions: \(text)")
            } else if error.isLockTimeout {
                // It affects only deliveries that read the locked object: others are prepared meanwhile.
                self = .waits("what it reads or writes is locked")
            } else if isOf(Self.ofDeliveries) {
                // It may also be caused by a database setting or a missing right, which can be corrected.
                self = .waits(text)
            } else {
                self = .passes
            }
        default: self = .passes
        }
    }

    /// Whether single values can cause this kind of error: evaluated separately, the others may well succeed.
    static func isOfValues(_ error: PostgresError) -> Bool {
        guard let state = error.sqlState else { return false }
        return state != "55P03" && ofConditions.contains { state.hasPrefix($0) }
    }

    /// The classes for a condition in SQL, without those of errors that do not depend on the data.
    private static let ofConditions = ["21", "22", "38", "39", "54", "55P03", "P0"]

    /// Bad data, a violated constraint, an unusable condition, or a refusal by the schema's functions.
    private static let ofDeliveries = ["22", "23", "42", "P0"]
}
