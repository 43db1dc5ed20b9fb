import PostgresClient

/// What becomes of a delivery whose preparation met an error.
public enum PreparationVerdict: Sendable, Hashable {
    /// Repeating it brings the same: the delivery fails with this reason.
    case fails(String)
    /// It may be fixed by who looks after the data that the target reads: the delivery waits, and shows this reason.
    ///
    /// - Parameter isTimeout: whether a statement was given up for its time limit.
    case waits(String, isTimeout: Bool = false)
    /// It is the database's own trouble and passes.
    case passes

    /// Judges an error.
    ///
    /// A part whose messages cannot be loaded waits as well. There a single person is left out for whom the view cannot be read; here
    /// nobody would know whether the filter chooses that person, so the delivery waits until the view can be read for all. It is the
    /// same with a condition in SQL, which can be computed for some values and not for others.
    ///
    /// - Parameter target: whom the delivery goes to, if what failed reads the data of its target.
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
            } else if let mapping = target?.readMapping, isOf(Self.ofViews) {
                self = .waits("\(mapping.viewText) cannot be read: \(text)")
            } else if target?.rawSQL != nil, isOf(Self.ofConditions) {
                self = .waits("its condition in SQL cannot be computed now, for somebody at least: \(text)")
            } else if isOf(Self.ofDeliveries) {
                self = .fails(text)
            } else {
                self = .passes
            }
        default: self = .passes
        }
    }

    /// SQLSTATE classes of what a view says when it, its rights or its data are not right, or somebody has locked it (55P03). Violated
    /// constraints (23) are of our own tables.
    private static let ofViews = ["21", "22", "38", "39", "3F", "42", "54", "55P03", "P0"]

    /// The same of a condition in SQL, without what it says when it is wrong whatever the data are.
    private static let ofConditions = ["21", "22", "38", "39", "54", "55P03", "P0"]

    /// Bad data, a violated constraint, a condition that cannot be used, or a refusal of the schema's functions.
    private static let ofDeliveries = ["22", "23", "42", "P0"]
}
