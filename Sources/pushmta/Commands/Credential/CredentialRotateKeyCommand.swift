import ArgumentParser
import PushCore
import Store

/// `pushmta credential rotate-key`.
struct CredentialRotateKeyCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Seal all credentials under a new key.",
        discussion: """
            A new key is put before the old one in the key file, so that both open credentials; then every credential is sealed \
            anew, each in a transaction of its own. It may be interrupted at any moment: called again, it goes on. While other hosts \
            run, it ends after the first step and says which of them need the file first. The old key stays in the file, for \
            copies of the database; --drop-old takes it out. Two at once wait for each other, on whatever host, and so do \
            commands that set a credential.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(
        help: ArgumentHelp(
            "Write the file with the new key and the old ones here instead of changing the key file.",
            valueName: "file"
        )
    )
    var output: String?

    @Flag(help: "Only make the new key; a second call seals the credentials under it.")
    var prepare = false

    @Flag(help: "Do not wait for other hosts: they read the same key file.")
    var shared = false

    @Flag(help: "Make no new key, finish what was begun, and take the old keys out of the key file.")
    var dropOld = false

    func validate() throws {
        if dropOld, prepare || output != nil {
            throw ValidationError("--drop-old ends a rotation and --prepare or --output begin one: give one of them.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await KeyRotation.run(store, loaded.values) { try await rotate($0) }
        }
    }

    private func rotate(_ rotation: KeyRotation) async throws {
        if !dropOld, try await rotation.isDue {
            let isReady = try await rotation.begin(output: output, waits: !shared, prepareOnly: prepare)
            guard isReady else { return }
        } else if prepare || output != nil {
            throw CommandFailure(
                .data,
                "A rotation is under way: credentials are to be sealed under the key \(try rotation.keys.current.keyID). Call this without --prepare and --output to finish it."
            )
        }
        try await rotation.seal()
        if dropOld { try await rotation.dropOld() }
    }
}
