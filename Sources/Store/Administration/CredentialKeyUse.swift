/// What somebody does with the key under which credentials are sealed.
public enum CredentialKeyUse: Sendable, Hashable {
    /// Seals a credential under the key that is current: any number may at once.
    case sealing
    /// Changes which keys there are: alone.
    case rotating

    /// What takes PostgreSQL's lock for it.
    var lockFunction: String {
        switch self {
        case .sealing: "pg_advisory_lock_shared"
        case .rotating: "pg_advisory_lock"
        }
    }

    /// What gives the lock back.
    var unlockFunction: String {
        switch self {
        case .sealing: "pg_advisory_unlock_shared"
        case .rotating: "pg_advisory_unlock"
        }
    }
}
