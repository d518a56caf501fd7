"""Pairs of sentences, written for these tests, and what the second is to the first."""

# Says the same in nearly the same words.
DUPLICATES = (
    ("We deploy on Fridays.", "we deploy on Fridays"),
    ("The build takes ten minutes on the old runner.", "The build takes 10 minutes on the old runner"),
    ("Ann prefers green tea in the morning.", "Ann prefers green tea in the mornings!"),
    ("The staging database is backed up every night.", "Staging database is backed up every night."),
    ("The user doesn't want emails on weekends.", "The user does not want any emails on weekends."),
    ("The invoices are stored in the finance bucket.", "Invoices are stored in the finance bucket"),
    ("Bob is the owner of the payment service.", "Bob is owner of the payment service."),
    ("Retry the upload when the network fails.", "Retry uploading when the network fails."),
    ("Never restart the primary database during the day.", "Never restart the primary database during the day!"),
    ("The kids are playing chess in the garden.", "The children are playing chess in the garden."),
    ("Use tabs to indent the lines of the Makefile.", "Use tabs for indenting the lines of the Makefile."),
    ("Customers in Norway pay in euros.", "The customers in Norway pay in euros."),
)

# Cannot be true at the same time; with the kind of what differs.
CONFLICTS = (
    ("The cache is enabled in production.", "The cache is not enabled in production.", "negation"),
    ("The user eats meat.", "The user doesn't eat meat.", "negation"),
    ("There is no backup of the archive.", "There is a backup of the archive.", "negation"),
    ("Requests without a key are accepted.", "Requests with a key are accepted.", "negation"),
    ("The cache is enabled in production.", "The cache is disabled in production.", "opposite"),
    ("The front door is open at night.", "The front door is closed at night.", "opposite"),
    ("The queue flag is supported.", "The queue flag is unsupported.", "opposite"),
    ("Ann likes strong coffee.", "Ann hates strong coffee.", "opposite"),
    ("The staging database runs on port 5433.", "The staging database runs on port 5434.", "number"),
    ("The team has five members.", "The team has six members.", "number"),
    ("Request timeout: 30 seconds", "Request timeout: 45 seconds", "number"),
    ("We deploy on Fridays.", "We deploy on Tuesdays.", "date"),
    ("The weekly meeting is at 10:30.", "The weekly meeting is at 14:00.", "date"),
    ("The certificate expires on 2026-03-01.", "The certificate expires on 2027-03-01.", "date"),
    ("Ann lives in Berlin.", "Ann lives in Lisbon.", "name"),
    ("The head office of the insurer is in Turku.", "The head office of the insurer is in Oulu.", "name"),
)

# Perhaps not true at the same time: stored, and a person or an agent decides.
POSSIBLE = (
    ("The database password rotates every 90 days.", "The database password rotates every 30 days."),
    ("User prefers dark mode in the editor.", "User prefers light mode in the editor."),
    ("Bob is the owner of the billing service.", "Alice is the owner of the billing service."),
    ("The billing service is owned by Bob.", "The billing service is owned by Alice."),
    ("Ann prefers tea", "Ann prefers coffee"),
    ("My favorite color is blue", "My favorite color is green"),
    ("The API rate limit is 100 requests per minute.", "The API rate limit was raised to 200 requests per minute."),
    ("The nightly job sends 3 reports to the team.", "The nightly job sends 5 reports to the team."),
    ("A cook is slicing the leek.", "The leek isn't being sliced by a cook."),
    ("The cook slowly pours the soup into bowls.", "The cook isn't pouring the soup slowly."),
    ("My neighbour, who is a vet, sells honey at home.", "My neighbour sells no honey."),
    ("A girl is watering the roses.", "There is no child watering the roses."),
    ("Nobody is whistling.", "Somebody is whistling in the yard."),
    ("Our office is in Turku. The kitchen has a new stove.", "The kitchen has a stove. Our office is in Bonn."),
    ("Dora works at Acme. She likes the canteen.", "Dora works at Initech. The canteen is what she likes."),
    ("I drink coffee. I sleep badly at night.", "I sleep badly at night. I drink no coffee."),
)

# Alike, and both worth keeping.
BOTH = (
    ("The fox is chased by the hen.", "The fox isn't chasing the hen."),
    ("The child waters the roses.", "There is no girl watering the tulips."),
    ("Nobody is whistling.", "Somebody is singing in the yard."),
    ("The office is in Turku. The kitchen is new.", "Is the office in Bonn? The kitchen is new."),
    ("The office in Turku is open. Dora works there.", "The office in Bonn is closed. Dora works there."),
    ("My neighbour, who is a vet, sells honey.", "My neighbour is no vet in Turku."),
    ("Meeting with Bob on Monday", "Meeting with Ann on Monday"),
    ("Meeting with Bob on Monday", "Meeting with Bob on Tuesday"),
    ("Order 1234 was shipped", "Order 1235 was shipped"),
    ("Ticket QX-991 is closed.", "Ticket QX-992 is closed."),
    ("Issue 12 is fixed.", "Issue 13 is fixed."),
    ("Ann prefers tea", "Bob prefers tea"),
    ("Version 1.2 was released on May 3.", "Version 1.3 was released on June 10."),
    ("We use Postgres for billing.", "We use Redis for billing."),
    ("The user speaks French.", "The user speaks German."),
    ("Three men are playing chess.", "Two men are playing chess."),
    ("The dog is chasing the cat.", "The cat is chasing the dog."),
    ("The frontend is written in TypeScript.", "The backend is written in TypeScript."),
    ("The guest book is on the table.", "The guest book is on the shelf."),
    ("A boy is playing a guitar.", "A girl is playing a guitar."),
    ("Ann has a sister in Oslo who is a nurse.", "Ann has a sister in Oslo."),
    ("Ann is allergic to peanuts.", "Ann is allergic to shellfish."),
    ("John: Sounds cool! I'll definitely check it out.", "John: Cheers! I'll definitely check it out."),
    ("Build 231 passed with 3 warnings.", "Build 232 passed with 4 warnings."),
    ("I had pizza for lunch.", "I had soup for lunch."),
    ("The crew repaired 3 bridges in June.", "The crew repaired 5 bridges in June."),
    ("Ann ran 5 kilometres before breakfast.", "Ann ran 7 kilometres before breakfast."),
    ("The script is deleting 12 old files.", "The script is deleting 14 old files."),
)
