import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta service control NAME`: shows or sets the control group of a service.
struct ServiceControlCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Show or set the control group of a service: persons who get no marketing.",
        discussion: """
            Without an option it shows the group, and what its members do in comparison with others. --percent 5 keeps five \
            percent of the persons without marketing, and --percent 0 ends the group. A larger share keeps the members, and so \
            does a group that begins again. Deliveries leave members out with the reason control_group; one-time codes and \
            transactional deliveries go to them, too. Results are the conversions that pushmta.record_user_conversion \
            and POST /services/NAME/conversions record for all users.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The service's name.")
    var name: String

    @Option(help: "The share of persons, from 0 to 50, with at most two decimals.")
    var percent: DecimalArgument?

    @Option(
        name: .customLong("category"),
        help: "A category that members do not get. Repeat it for several; without it, all that are not transactional."
    )
    var categories: [String] = []

    @Option(help: "How many days to compare, up to 366.")
    var days: Int32 = 28

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard percent != nil || categories.isEmpty else { throw ValidationError("Give --percent with --category.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let (group, results) = try await StoreSession.run(loaded.values) { store in
            // An unknown name would look like one without a group.
            _ = try await store.service(named: name)
            if let percent {
                try await store.setControlGroup(
                    ofService: name,
                    percent: percent.number,
                    categories: categories.isEmpty ? nil : categories
                )
            }
            return (
                try await store.controlGroups(ofService: name).first,
                try await store.controlResults(ofService: name, days: days)
            )
        }
        if json {
            StandardOutput.line(Self.cell(group, results).json)
        } else {
            StandardOutput.line(text(group, results))
        }
    }

    private func text(_ group: ControlGroupRow?, _ results: [ControlResult]) -> String {
        guard let group else { return "Service \(name) has no control group." }
        let kept = group.categories.map { $0.joined(separator: ", ") } ?? "all that are not transactional"
        var lines = [
            "Control group: \(group.percent) % of the persons, since \(group.since.internetText). Categories: \(kept)."
        ]
        if let members = group.members, let persons = group.persons {
            lines.append("Members: \(members) of \(persons) persons who may get messages.")
        } else {
            lines.append("Its members are not counted yet; a feedback worker counts them within a minute.")
        }
        if results.isEmpty { lines.append("No conversion of a user was recorded since.") }
        lines += results.map { "\($0.name), since \($0.since.internetText): \($0.difference)" }
        return lines.joined(separator: "\n")
    }

    private static func cell(_ group: ControlGroupRow?, _ results: [ControlResult]) -> Cell {
        let list = results.map { result -> Cell in
            .object([
                ("name", .text(result.name)), ("since", .text(result.since.internetText)),
                ("members", Cell(result.members)), ("converted_members", .integer(result.convertedMembers)),
                ("others", Cell(result.others)), ("converted_others", .integer(result.convertedOthers)),
                ("difference", .text(result.difference)),
            ])
        }
        let categories: Cell = if let names = group?.categories { .list(names.map { .text($0) }) } else { .none }
        return .object([
            ("percent", .number(group?.percent ?? 0)), ("categories", categories),
            ("since", Cell(group?.since.internetText)), ("persons", Cell(group?.persons)),
            ("members", Cell(group?.members)), ("counted_at", Cell(group?.countedAt?.internetText)),
            ("results", .list(list)),
        ])
    }
}
