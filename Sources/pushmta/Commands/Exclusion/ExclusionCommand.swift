import ArgumentParser

/// `pushmta exclusion`.
struct ExclusionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exclusion",
        abstract: "Exclusion lists: who gets nothing of the deliveries that use them.",
        discussion: """
            A delivery uses a list with `delivery create --exclude LIST`. Whom it leaves out for that is recorded with the reason \
            exclusion_list.
            """,
        subcommands: [
            ExclusionCreateCommand.self, ExclusionAddCommand.self, ExclusionImportCommand.self,
            ExclusionRemoveCommand.self, ExclusionListCommand.self, ExclusionDeleteCommand.self,
        ]
    )
}
