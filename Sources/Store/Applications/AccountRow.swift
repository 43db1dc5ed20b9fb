import PostgresClient
import PushCore

/// An external account: how deliveries reach a gateway.
package struct AccountRow: Sendable, Hashable {
    package let id: Int32
    /// Its name in commands, unique.
    package let name: String
    /// The protocol to the gateway.
    package let connector: Connector
    /// The gateway's host, or that of a stand-in.
    package let host: String
    package let port: Int32
    /// Connector options, a flat JSON object (connections, CA file, token URI…).
    package let options: String
    /// Whether parts may be claimed for it.
    package let active: Bool

    package init(
        id: Int32,
        name: String,
        connector: Connector,
        host: String,
        port: Int32,
        options: String,
        active: Bool
    ) {
        self.id = id
        self.name = name
        self.connector = connector
        self.host = host
        self.port = port
        self.options = options
        self.active = active
    }
}

extension AccountRow {
    func moved(to host: String) -> AccountRow {
        AccountRow(id: id, name: name, connector: connector, host: host, port: port, options: options, active: active)
    }

    static let columns = "e.id, e.name, e.connector, e.host, e.port, e.options::text, e.active"

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.int32(),
            name: try row.text(),
            connector: try row.choice(),
            host: try row.text(),
            port: try row.int32(),
            options: try row.text(),
            active: try row.bool()
        )
    }
}
