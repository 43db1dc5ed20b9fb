import ArgumentParser
import PushCore

/// The flags that describe a credential.
struct CredentialOptions: ParsableArguments {
    @Option(help: "The credential: Apple's .p8 key file, or Google's service account JSON file.")
    var key: String?

    @Option(help: "The id of Apple's key (default: from the file name AuthKey_ID.p8).")
    var keyID: String?

    @Option(help: "The id of Apple's developer team.")
    var teamID: String?

    /// The checked credential; `nil` if none was given.
    func material(_ platform: Platform) throws -> CredentialMaterial? {
        try key.map { try CredentialMaterial(file: $0, platform: platform, keyID: keyID, teamID: teamID) }
    }
}
