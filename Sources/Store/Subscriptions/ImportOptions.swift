/// How a file of subscriptions is imported.
package struct ImportOptions: Sendable {
    /// The age of lines without a time of their own. If it is nil, such lines only add unknown addresses.
    package var age: ImportAge?
    /// The states from which addresses that get no messages are brought back.
    package var bringsBack: Set<ImportState> = []
    /// Only checks, and reports what would be done.
    package var isDryRun = false
    /// Skips lines that cannot be imported, and reports them; otherwise the first such line ends the import.
    package var skipsMalformed = false
    /// The source of the lines, for people.
    package var source = ""

    /// Options for a file without a known age.
    package init() {}
}

/// How old a file is.
package enum ImportAge: Sendable, Hashable {
    /// Exported when the import begins.
    case now
    /// Exported at a time.
    case at(DatabaseTime)
}

/// Why an address gets no messages: an import brings it back only on request.
package enum ImportState: String, Sendable, Hashable, CaseIterable {
    /// The person opted out.
    case optedOut = "opted_out"
    /// It is on the deny list.
    case denylisted
    /// A gateway called it dead, or messages to it failed too often.
    case quarantined
    /// The app or the API has unregistered its device.
    case unregistered
    /// Its device, or the gateway, has replaced the token.
    case renewed
    /// It has since belonged to another user, who no longer has it.
    case moved
    /// It is disabled for another reason.
    case disabled
}

/// Why a line changes nothing.
package enum ImportHold: Sendable, Hashable {
    /// It has no time, and the address is known.
    case known
    /// The database has something newer.
    case older
    /// The address gets no messages, and the caller did not ask to bring it back.
    case state(ImportState)

    init?(_ text: String) {
        switch text {
        case "known": self = .known
        case "older": self = .older
        default:
            guard let state = ImportState(rawValue: text) else { return nil }
            self = .state(state)
        }
    }
}
