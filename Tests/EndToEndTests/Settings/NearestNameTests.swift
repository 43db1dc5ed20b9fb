import ProcessEvents
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct NearestNameTests {
    @Test func theSmallestDistanceWins() {
        #expect(NearestName.nearest(to: "tittle", among: ["body", "title", "subtitle"]) == "title")
        #expect(NearestName.nearest(to: "TITLE", among: ["title"]) == "title")
        #expect(NearestName.nearest(to: "", among: ["abc", "a"]) == "a")
        #expect(NearestName.nearest(to: "x", among: []) == nil)
        #expect(NearestName.nearest(to: "tier", among: ["device"], within: 1) == nil)
        #expect(NearestName.nearest(to: "lokale", among: ["locale"], within: 1) == "locale")
        #expect(NearestName.nearest(to: "mta.foo", among: ["web.port", "log.level"]) == nil, "a guess is no help")
    }

    private func mistyped(_ line: String) -> String? {
        MistypedCommand(line.split(separator: " ").map(String.init), of: PushMTA.self)?.text
    }

    @Test func aMistypedCommandGetsTheNearestOne() {
        #expect(
            mistyped("staus --json")
                == "There is no command pushmta staus. Did you mean pushmta status? `pushmta --help` lists the commands."
        )
        #expect(mistyped("credential rotate-keys")?.contains("Did you mean pushmta credential rotate-key?") == true)
        #expect(mistyped("supervisor drian")?.contains("Did you mean pushmta supervisor drain?") == true)
        #expect(mistyped("xyzzy") == "There is no command pushmta xyzzy. `pushmta --help` lists the commands.")
        #expect(mistyped("log") == "There is no command pushmta log. `pushmta --help` lists the commands.")
        for right in [
            "status", "application list", "help status", "--version", "", "queue list 5", "supervisor --wide",
        ] {
            #expect(mistyped(right) == nil, "\(right)")
        }
    }

    @Test func aNearNameIsNoCommandThatCannotBeUndone() {
        let words = "`pushmta delivery --help` lists the commands."
        #expect(mistyped("delivery show 99999") == "There is no command pushmta delivery show. \(words)")
        #expect(mistyped("delivery strat 3") == "There is no command pushmta delivery strat. \(words)")
        #expect(mistyped("delivery stat 3")?.contains("Did you mean pushmta delivery status?") == true)
        #expect(mistyped("exclusion delte a")?.contains("Did you mean") == false)
    }

    @Test func anOptionThatIsAnotherWordIsNotProposed() {
        let other = "Error: Unknown option '--at'. Did you mean '--set'?\nUsage: pushmta delivery start"
        #expect(MistypedCommand.sober(other) == "Error: Unknown option '--at'\nUsage: pushmta delivery start")
        #expect(MistypedCommand.sober("Unknown option '--chek'. Did you mean '--set'?") == "Unknown option '--chek'")
        let near = "Unknown option '--exclud'. Did you mean '--exclude'?"
        #expect(MistypedCommand.sober(near) == near)
    }

    @Test func eventsNameCommandsThatThereAre() {
        for event in ProcessEvent.all {
            for match in event.remedy.matches(of: #/`pushmta (?<words>[a-z -]+)/#) {
                let words = match.words.split(separator: " ").map(String.init)
                #expect(MistypedCommand(words, of: PushMTA.self) == nil, "\(event.name): \(event.remedy)")
            }
        }
    }
}
