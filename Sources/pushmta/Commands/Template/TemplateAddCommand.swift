import ArgumentParser
import PushCore
import Store

/// `pushmta template add NAME`.
struct TemplateAddCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a delivery template.",
        discussion: """
            Its content need not be complete: what each delivery says for itself is merged into it. Settings are priority, \
            validity_seconds (\(DeliveryLimits.validityWords)), one_per_user, explicit_targets, ambiguity_policy, max_retries and \
            retry_period_seconds, as in --settings '{"priority": 10}'.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "The content as JSON text, or the path of a file behind @, as in @content.json.")
    var content: String

    @Option(help: "What it is for.")
    var label = ""

    @Option(help: "Settings of the deliveries, a JSON object, or the path of a file behind @.")
    var settings = "{}"

    @Flag(help: "Replace the template of this name, if there is one of your own.")
    var replace = false

    func execute(_ loaded: LoadedSettings) async throws {
        let content = try ContentText(argument: content)
        let settings = try ContentText(argument: settings, of: "settings")
        try settings.requireObject("settings", example: #"{"priority": 10}"#)
        // A content of wrong JSON is refused; one that says too little, or nothing for a platform yet, is what templates are for.
        let problems = PushContent.validate(json: content.text)
        if problems.contains(where: { $0.key.isEmpty }) { _ = try content.content() }
        try await StoreSession.run(loaded.values) { store in
            try await store.addTemplate(
                name: name,
                label: label,
                content: content.text,
                settings: settings.text,
                replacing: replace
            )
        }
        StandardOutput.line("Delivery template \(name) is there.")
        guard !problems.isEmpty else { return }
        StandardError.write("As it stands it cannot be sent; a delivery has to put this right:\n")
        for problem in problems { StandardError.write("  \(problem)\n") }
    }
}
