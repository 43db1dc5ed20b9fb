import HTTPTypes
import PushCore
import Store

/// A setting as the console's own process has it; secrets are left out already.
public struct SettingInForce: Sendable, Hashable {
    /// What a value came from, the stronger one last.
    public enum Source: Sendable, Hashable {
        /// Nobody has set it.
        case standard
        case file
        /// A variable of the process's environment.
        case environment
        /// A flag of the command line.
        case flag
    }

    /// The key as it stands in the file.
    public let key: String
    /// The value, for people.
    public let value: String
    /// The unit of the value.
    public let unit: String
    public let source: Source
    /// The file's path or the variable's name; "" where there is none.
    public let place: String

    public init(key: String, value: String, unit: String, source: Source, place: String) {
        self.key = key
        self.value = value
        self.unit = unit
        self.source = source
        self.place = place
    }
}

/// *Settings in force*: of the console's own process, and what the database knows of those of the hosts.
struct SettingsPage: Sendable {
    let responder: ConsoleResponder

    /// Below that of the hosts, whose part of the menu it is.
    static let path = "/hosts/settings"
    /// Hosts of a page: more are no site that one looks at in a table.
    private static let mostHosts = 100

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.operate)) { _ in
                let hosts = try await responder.database.run { try await $0.hosts() }
                let all = responder.setup.settingsInForce
                let (changed, standard) = (all.filter { $0.source != .standard }, all.filter { $0.source == .standard })
                var values: PageValues = [
                    "hosts": .list(hosts.prefix(Self.mostHosts).map(host)), "hasHosts": .flag(!hosts.isEmpty),
                ]
                // All come from the same file, so that it is named once.
                if let file = all.first(where: { $0.source == .file }) { values["file"] = .text(file.place) }
                if !changed.isEmpty { values["changed"] = .group(["rows": .list(changed.map(row))]) }
                if !standard.isEmpty { values["standard"] = .group(["rows": .list(standard.map(row))]) }
                return .page(ConsolePage("settings", title: catalogue[.settingsTitle], values))
            }
        ]
    }

    private func row(_ setting: SettingInForce) -> PageValues {
        let source: Phrase =
            switch setting.source {
            case .standard: .sourceDefault
            case .file: .sourceFile
            case .environment: .sourceEnvironment
            case .flag: .sourceFlag
            }
        return [
            "key": .text(setting.key), "value": .text(setting.value.isEmpty ? catalogue[.valueEmpty] : setting.value),
            "isEmpty": .flag(setting.value.isEmpty),
            "unit": .text(catalogue.word(setting.unit)), "source": .text(catalogue[source]),
            "place": .text(setting.source == .file ? "" : setting.place),
        ]
    }

    private func host(_ host: HostRow) -> PageValues {
        [
            "host": .text(host.report.name), "version": .text(host.report.version),
            "folder": .text(host.report.journalFolder), "children": .text("\(host.report.maxChildren)"),
        ]
    }
}
