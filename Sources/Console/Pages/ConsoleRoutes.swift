import HTTPTypes
import PushCore
import Store

/// The table of all routes: what can be seen and done, and by whom.
struct ConsoleRoutes: Sendable {
    /// An entry of the menu.
    struct MenuItem: Sendable {
        let path: String
        let name: Phrase
        let role: ConsoleRole
    }

    static let signInPath = "/sign-in"
    static let signOutPath = "/sign-out"
    static let livePath = "/live"
    /// The entries of the menu, and the role that each needs.
    static let menu = [
        MenuItem(path: "/", name: .menuNow, role: .read),
        MenuItem(path: "/deliveries", name: .menuDeliveries, role: .read),
        MenuItem(path: Composer.path, name: .menuCompose, role: .marketing),
        MenuItem(path: ApprovalsPage.path, name: .menuApprovals, role: ApprovalsPage.role),
        MenuItem(path: TemplatesPage.path, name: .menuTemplates, role: .read),
        MenuItem(path: ServiceListPage.path, name: .menuServices, role: .read),
        MenuItem(path: AlarmsPage.path, name: .menuAlarms, role: .read),
        MenuItem(path: "/hosts", name: .menuHosts, role: .read),
        MenuItem(path: SubscriberSearchPage.path, name: .menuSubscribers, role: .read),
        MenuItem(path: QuarantinePage.path, name: .menuQuarantine, role: .read),
        MenuItem(path: UsersPage.path, name: .menuUsers, role: .admin),
        MenuItem(path: "/audit", name: .menuAudit, role: .admin),
    ]

    let all: [ConsoleRoute]

    init(_ responder: ConsoleResponder) {
        let files = PageRenderer.loaded.sorted { $0.key < $1.key }.map { name, type in
            ConsoleRoute(.get, "/files/{version}/" + name, .everybody) { call in
                // During an upgrade the version may differ; the file would then be cached permanently under the wrong
                // name.
                guard call.parameters["version"] == responder.pages.filesVersion, let text = responder.pages.file(name)
                else { throw ConsoleProblem.notFound }
                return .file(text: text, type: type)
            }
        }
        let pages: [[ConsoleRoute]] = [
            SignIn(responder: responder).routes,
            PasswordPage(responder: responder).routes,
            UsersPage(responder: responder).routes,
            NowPage(responder: responder).routes,
            DeliveryListPage(responder: responder).routes,
            ComparePage(responder: responder).routes,
            ArchivePage(responder: responder).routes,
            ApprovalsPage(responder: responder).routes,
            DeliveryDetailPage(responder: responder).routes,
            RecallPage(responder: responder).routes,
            DeliveryFollowPage(responder: responder).routes,
            DeliveryRatePage(responder: responder).routes,
            RecurrencePage(responder: responder).routes,
            ExperimentPage(responder: responder).routes,
            VariantPage(responder: responder).routes,
            AlarmsPage(responder: responder).routes,
            HostsPage(responder: responder).routes,
            EventsPage(responder: responder).routes,
            EventChangePages(responder: responder).routes,
            AuditPage(responder: responder).routes,
            SubscriberSearchPage(responder: responder).routes,
            SubscriberPage(responder: responder).routes,
            ServiceSubscribersPage(responder: responder).routes,
            QuarantinePage(responder: responder).routes,
            QuarantineUndoPage(responder: responder).routes,
            SeedPage(responder: responder).routes,
            ExclusionPages(responder: responder).routes,
            AudiencePages(responder: responder).routes,
            DeliveryMessagesPage(responder: responder).routes,
            FindMessagePage(responder: responder).routes,
            OutcomesCSV(responder: responder).routes,
            Composer(responder: responder).routes,
            TemplatesPage(responder: responder).routes,
            ServiceListPage(responder: responder).routes,
            ApplicationPage(responder: responder).routes,
            ApplicationChangePage(responder: responder).routes,
            DeclarationPages(responder: responder).routes,
            ServiceHoursPage(responder: responder).routes,
            FrequencyCapPages(responder: responder).routes,
            ControlGroupPage(responder: responder).routes,
            ApprovalRulePage(responder: responder).routes,
            AccountPages(responder: responder).routes,
            CredentialPage(responder: responder).routes,
            TestPushPage(responder: responder).routes,
            SettingsPage(responder: responder).routes, SignalPages(responder: responder).routes,
            LanguageMenu.routes, files,
        ]
        let asked = pages.flatMap(\.self)
        all = asked + Self.returns(from: asked)
    }

    /// A refused form leaves its address in the browser, where it is loaded again or kept as a bookmark. Where only
    /// forms are sent to, a GET leads to the page that the form belongs to: the nearest one above.
    private static func returns(from routes: [ConsoleRoute]) -> [ConsoleRoute] {
        func pattern(_ path: String) -> String { path.replacing(#/\{\w+\}/#, with: "{}") }
        let pages = Set(routes.filter { $0.method == .get }.map { pattern($0.path) })
        let forms = Set(routes.filter { $0.method == .post }.map(\.path)).filter { !pages.contains(pattern($0)) }
        return forms.sorted().map { path in
            let parts = pattern(path).split(separator: "/")
            let depth = (0..<parts.count).last { pages.contains("/" + parts.prefix($0).joined(separator: "/")) } ?? 0
            return ConsoleRoute(.get, path, .role(.read)) { call in
                let query = call.query.values.sorted { $0.key < $1.key }
                    .map { "\($0.key)=\(SignIn.encoded($0.value))" }.joined(separator: "&")
                let page = "/" + call.path.split(separator: "/").prefix(depth).joined(separator: "/")
                return .redirect(query.isEmpty ? page : "\(page)?\(query)")
            }
        }
    }
}

extension ConsoleCall {
    /// The signed-in user. Routes that require a role always have one.
    var user: ConsoleSession {
        get throws(ConsoleProblem) {
            guard let session else { throw .failed }
            return session
        }
    }

    /// Whether the user may compose deliveries.
    var mayCompose: Bool { session.map { $0.role >= .marketing } ?? false }

    /// Whether the user may pause, resume and stop things.
    var mayOperate: Bool { session.map { $0.role >= .operate } ?? false }

    /// Whether the user may declare things.
    var mayDeclare: Bool { session.map { $0.role >= .admin } ?? false }
}
