import PushCore

/// The command line of a child, built by the supervisor and read by the child in this one place.
public struct ChildArguments: Sendable, Equatable {
    /// The name of the command that is the child.
    public static let command = "mta-child"

    /// The id of the child's row in `mta_child`.
    public var childID: Int64
    /// The id of the host: the UUID that the supervisor keeps in the journal folder.
    public var hostID: String
    /// Number of this start among all that this supervisor has made; counts from 1.
    public var generation: Int32
    /// The application whose messages the child sends.
    public var applicationID: Int32
    /// The external account through which it sends.
    public var accountID: Int32
    /// The connector of that account.
    public var connector: Connector
    /// Path of the journal that the child creates and locks.
    public var journalFile: String
    /// The running system's boot: a UUID that changes when the machine is started again, for the header of the journal; nil
    /// where the system does not tell.
    public var bootID: String?
    /// The database's identity, a UUID, for the header of the journal; nil if the supervisor does not know it.
    public var installationID: String?
    /// The newest version of a journal that the supervisor reads; nil from one that is too old to say so.
    public var journalVersion: UInt16?
    /// Options of `pushmta` itself that the supervisor was started with, such as `--config FILE`, passed through in order.
    public var globalOptions: [String]

    /// Makes the arguments of one child.
    public init(
        childID: Int64,
        hostID: String,
        generation: Int32,
        applicationID: Int32,
        accountID: Int32,
        connector: Connector,
        journalFile: String,
        bootID: String? = nil,
        installationID: String? = nil,
        journalVersion: UInt16? = nil,
        globalOptions: [String] = []
    ) {
        self.childID = childID
        self.hostID = hostID
        self.generation = generation
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
        self.journalFile = journalFile
        self.bootID = bootID
        self.installationID = installationID
        self.journalVersion = journalVersion
        self.globalOptions = globalOptions
    }

    /// The command line behind the path of the executable, beginning with ``command``.
    public var commandLine: [String] {
        [
            Self.command,
            Option.childID.rawValue, String(childID),
            Option.hostID.rawValue, hostID,
            Option.generation.rawValue, String(generation),
            Option.application.rawValue, String(applicationID),
            Option.account.rawValue, String(accountID),
            Option.connector.rawValue, connector.rawValue,
            Option.journal.rawValue, journalFile,
        ] + Self.option(.bootID, bootID) + Self.option(.installationID, installationID)
            + Self.option(.journalVersion, journalVersion.map { String($0) }) + globalOptions
    }

    private static func option(_ option: Option, _ value: String?) -> [String] {
        value.map { [option.rawValue, $0] } ?? []
    }

    enum Option: String, CaseIterable {
        case childID = "--child-id"
        case hostID = "--host-id"
        case generation = "--generation"
        case application = "--application"
        case account = "--account"
        case connector = "--connector"
        case journal = "--journal"
        case bootID = "--boot-id"
        case installationID = "--installation-id"
        case journalVersion = "--journal-version"
    }
}
