import ArgumentParser

/// `pushmta template`.
struct TemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template",
        abstract: "Delivery templates: content and settings that deliveries start from.",
        discussion: "`pushmta delivery create --template NAME` makes a delivery from one.",
        subcommands: [
            TemplateListCommand.self, TemplateShowCommand.self, TemplateAddCommand.self, TemplateDuplicateCommand.self,
        ]
    )
}
