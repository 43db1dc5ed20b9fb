import HTTPTypes
import PushCore
import Store

/// *Settings in force*: those of the console's own process, and what the database knows about those of the hosts.
struct SettingsPage: Sendable {
    let responder: ConsoleResponder

    /// Below the path of the hosts, as it is part of their menu.
    static let path = "/hosts/settings"
    /// The maximum number of hosts on a page: a table is no view of a larger site.
    private static let maxHosts = 100

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.operate)) { _ in
                let hosts = try await responder.database.run { try await $0.hosts() }
                let all = responder.setup.settingsInForce
                let (changed, standard) = (all.filter { $0.source != .standard }, all.filter { $0.source == .standard })
                var values: PageValues = [
                    "hosts": .list(hosts.prefix(Self.maxHosts).map(host)), "hasHosts": .flag(!hosts.isEmpty),
                ]
                // All come from the same file, so it is named once.
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
