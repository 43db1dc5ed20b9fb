import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import Store

/// The user and the place, for what surrounds a page.
struct PageFrame: Sendable {
    let session: ConsoleSession
    let path: String
    /// The path to return to after changing something outside the page, such as its language; the address of a form
    /// leads to its page.
    let back: String
    /// Whether a form was sent.
    let isForm: Bool
    /// The number of unacknowledged alarms; nil if it is unknown.
    var alarms: AlarmCount?
    /// The number of deliveries that wait for an approval of this user; nil if it is unknown, or the user may not approve.
    var approvals: Int?
}

/// Renders pages as HTML, with the templates of ``ConsoleFiles``.
struct PageRenderer: Sendable {
    /// The texts of the page that is being rendered.
    var catalogue: Catalogue { .current }
    private let library: MustacheLibrary
    private let files: [String: String]
    private let version: String
    /// Changes with the files, so that browsers may cache them permanently.
    let filesVersion: String

    /// The files that pages load, with their types.
    static let loaded = [
        "console.css": "text/css", "console.js": "text/javascript", "compose.js": "text/javascript",
        "icon.svg": "image/svg+xml",
    ]

    /// Reads the templates that are built into the program.
    init(version: String) throws {
        self.version = version
        let files = ConsoleFile.all
        var library = MustacheLibrary()
        for (name, text) in files where name.hasSuffix(".mustache") {
            try library.register(text, named: String(name.dropLast(".mustache".count)))
        }
        self.library = library
        self.files = files
        let all = files.sorted { $0.key < $1.key }.map(\.value).joined()
        filesVersion = String(Tokens.hex(Tokens.hash(all)).prefix(12))
    }

    /// The text of a file that pages load.
    func file(_ name: String) -> String? { Self.loaded[name] == nil ? nil : files[name] }

    /// All templates, for tests.
    var templates: [String: String] { files.filter { $0.key.hasSuffix(".mustache") } }

    /// A part of a page, without its surroundings.
    func fragment(_ template: String, _ values: PageValues) -> String {
        var all = values.rendered
        all["t"] = catalogue.texts
        return library.render(all, withTemplate: template) ?? ""
    }

    func html(_ page: ConsolePage, frame: PageFrame?) -> String {
        var values = page.values
        values["title"] = .text(page.title)
        values["version"] = .text(version)
        values["files"] = .text(filesVersion)
        // The script asks before what such a page shows of a form is dropped: it is not saved.
        values["isAnswer"] = .flag(frame?.isForm ?? false)
        if let frame {
            values["frame"] = .group([
                "user": .text(frame.session.user), "role": .text(catalogue.role(frame.session.role)),
                "formToken": .text(frame.session.formToken), "links": .list(links(frame)),
            ])
            values["languageMenu"] = LanguageMenu.values(
                path: LanguageMenu.path,
                formToken: frame.session.formToken,
                next: frame.back
            )
        }
        return fragment(page.template, values)
    }

    private func links(_ frame: PageFrame) -> [PageValues] {
        // A user who must choose a password has nowhere else to go.
        guard !frame.session.mustChoosePassword else { return [] }
        return ConsoleRoutes.menu.filter { frame.session.role >= $0.role }.map { item in
            let isHere = item.path == "/" ? frame.path == "/" : frame.path.hasPrefix(item.path)
            var values: PageValues = [
                "path": .text(item.path), "name": .text(catalogue[item.name]), "isHere": .flag(isHere),
            ]
            if item.path == AlarmsPage.path, let alarms = frame.alarms, alarms.all > 0 {
                values["badge"] = .group([
                    "count": .text("\(alarms.all)"), "isCritical": .flag(alarms.critical > 0),
                    "words": .text(catalogue.text(.alarmsUnseen, count: Int64(alarms.all), "\(alarms.all)")),
                ])
            }
            if item.path == ApprovalsPage.path, let approvals = frame.approvals, approvals > 0 {
                values["badge"] = .group([
                    "count": .text("\(approvals)"), "isCritical": .flag(false),
                    "words": .text(catalogue.text(.approvalsAwaited, count: Int64(approvals), "\(approvals)")),
                ])
            }
            return values
        }
    }
}

extension PageRenderer {
    /// The response for a problem.
    func response(_ problem: ConsoleProblem, frame: PageFrame?) -> Response {
        let words = problem.words
        var text = catalogue[words.text]
        if case .conflict(let cause) = problem { text = cause + " " + text }
        var values: PageValues = ["text": .text(text)]
        // Without the role, or the thing, there is no page of the form either.
        if let frame, frame.isForm, problem != .refusedRole, problem != .notFound {
            values["link"] = .group([
                "linkPath": .text(frame.back), "linkWords": .text(catalogue[.backToPage]),
            ])
        }
        let page = ConsolePage("problem", title: catalogue[words.title], values, status: problem.status)
        var response = response(page, frame: frame)
        if problem == .databaseAway { response.headers[.retryAfter] = "5" }
        return response
    }

    /// The response for a reply.
    func response(_ reply: ConsoleReply, frame: PageFrame?) throws -> Response {
        switch reply {
        case .page(let page): return response(page, frame: frame)
        case .redirect(let path, let cookies):
            var response = Response(status: .seeOther, headers: [.location: path])
            response.headers[values: .setCookie] = cookies
            return response
        case .file(let text, let type):
            return Response(
                status: .ok,
                headers: [
                    .contentType: type + "; charset=utf-8", .cacheControl: "public, max-age=31536000, immutable",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text))
            )
        case .download(let name, let type, let run):
            return Response(
                status: .ok,
                headers: [
                    .contentType: type + "; charset=utf-8",
                    .contentDisposition: "attachment; filename=\"\(name)\"", .cacheControl: "no-store",
                ],
                body: ResponseBody { writer in
                    var current = writer
                    try await run { text in try await current.write(ByteBuffer(string: text)) }
                    try await current.finish(nil)
                }
            )
        case .image(let bytes, let isKept):
            return Response(
                status: .ok,
                headers: [.contentType: "image/png", .cacheControl: isKept ? "private, max-age=86400" : "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            )
        case .events(let run):
            // Later output uses the present language.
            let language = Language.current
            return Response(
                status: .ok,
                headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
                body: ResponseBody { writer in
                    try await Language.$current.withValue(language) {
                        try await EventWriter.run(&writer, run)
                    }
                    try await writer.finish(nil)
                }
            )
        }
    }

    private func response(_ page: ConsolePage, frame: PageFrame?) -> Response {
        var response = Response(
            status: page.status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html(page, frame: frame)))
        )
        if !page.cookies.isEmpty { response.headers[values: .setCookie] = page.cookies }
        return response
    }
}
