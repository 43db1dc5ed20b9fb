import PostgresClient

/// What becomes of a delivery whose preparation met an error.
public enum PreparationVerdict: Sendable, Hashable {
    /// Repeating it brings the same: the delivery fails with this reason.
    case fails(String)
    /// It may be mended by who looks after the target mapping's view: the delivery waits, and shows this reason.
    case waits(String)
    /// It is the database's own trouble and passes.
    case passes

    /// Judges an error.
    ///
    /// A part whose messages cannot be loaded waits as well. There a single person is left out for whom the view cannot be read; here
    /// nobody would know whether the filter chooses that person, so the delivery waits until the view can be read for all.
    ///
    /// - Parameter readsMapping: whether what failed reads the view of a target mapping.
    init(_ error: any Error, readsMapping: Bool) {
        switch error {
        case let error as StoreError:
            switch error.code {
            case .unavailable: self = .waits("\(error)")
            case .notFound, .invalid, .conflict: self = .fails("\(error)")
            case .schema, .unbalancedPart, .unexpectedAnswer: self = .passes
            }
        case let error as PostgresError:
            let state = error.sqlState ?? ""
            let isOf = { (classes: [String]) in classes.contains { state.hasPrefix($0) } }
            if error.isConnectionLost {
                self = .passes
            } else if readsMapping, isOf(Self.ofViews) {
                self = .waits("the target mapping's view cannot be read: \(LoadProblem.text(error))")
            } else if isOf(Self.ofDeliveries) {
                self = .fails(LoadProblem.text(error))
            } else {
                self = .passes
            }
        default: self = .passes
        }
    }

    /// SQLSTATE classes of what a view says when it, its rights or its data are not right, or somebody has locked it (55P03) or made
    /// it too slow (57014). Violated constraints (23) are of our own tables.
    private static let ofViews = ["21", "22", "38", "39", "3F", "42", "54", "55P03", "57014", "P0"]

    /// Bad data, a violated constraint, a condition that cannot be used, or a refusal of the schema's functions.
    private static let ofDeliveries = ["22", "23", "42", "P0"]
}
