"""What a user's calls become: records of a description, handles, contacts and tyres, linkages as
joints."""
