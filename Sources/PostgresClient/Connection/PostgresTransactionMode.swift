/// How a transaction sees other transactions.
public enum PostgresTransactionMode: Sendable, Hashable {
    /// Each statement sees what was committed before it; PostgreSQL's default.
    case readCommitted
    /// All statements see the snapshot of the first; a write conflict fails with SQLSTATE 40001.
    case repeatableRead
    /// All statements see one snapshot and nothing is written: for counts that must agree.
    case snapshot
    /// As if transactions ran one after the other; may fail with SQLSTATE 40001.
    case serializable

    var begin: String {
        switch self {
        case .readCommitted: "BEGIN"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        }
    }
}
