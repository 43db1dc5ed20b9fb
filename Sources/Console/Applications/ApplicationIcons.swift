import Store

/// Where pages find the icons of applications.
struct ApplicationIcons: Sendable {
    /// The query's name of what changes with an application: an image under such a path may be kept.
    static let version = "v"

    private var paths: [String: String] = [:]

    init() {}

    static func read(_ database: ConsoleDatabase) async throws -> ApplicationIcons {
        var icons = ApplicationIcons()
        for icon in try await database.run({ try await $0.iconVersions() }) {
            icons.paths[icon.application] = "\(ApplicationPage.path("\(icon.id)"))/icon?\(version)=\(icon.version)"
        }
        return icons
    }

    /// Adds `iconPath` to what a page shows of an application, if that has an icon.
    func add(to values: inout PageValues, _ application: String) {
        if let path = paths[application] { values["iconPath"] = .text(path) }
    }
}
