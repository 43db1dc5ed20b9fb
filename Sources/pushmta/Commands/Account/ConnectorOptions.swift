import ArgumentParser
import PushCore

/// What speaks to a gateway, by its name or by the address that Adobe Campaign has for it.
struct ConnectorOptions: ParsableArguments {
    @Option(help: "What speaks to the gateway: \(Connector.allCases.map(\.rawValue).joined(separator: ", ")).")
    var connector: Connector?

    @Option(
        help: ArgumentHelp(
            "Adobe Campaign's address of a connector, in the place of --connector; only its path counts.",
            discussion: ConnectorAlias.known.joined(separator: "\n")
        )
    )
    var url: String?

    func validate() throws {
        guard let url else { return }
        guard connector == nil else { throw ValidationError("Give --connector or --url, not both.") }
        guard ConnectorAlias.connector(url: url) != nil else {
            throw ValidationError(
                "--url is no address of a connector: use \(ConnectorAlias.known.joined(separator: ", ")), or --connector."
            )
        }
    }

    /// The connector; nil if none was named.
    var chosen: Connector? { connector ?? url.flatMap(ConnectorAlias.connector) }
}
